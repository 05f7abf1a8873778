#![no_main]
ken_fuzz::extracts_part!("iwork/fares.numbers", "Index/Document.iwa", ken_fuzz::iwa);
