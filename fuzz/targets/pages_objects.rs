#![no_main]
ken_fuzz::extracts_part!("iwork/letter.pages", "Index/Document.iwa", ken_fuzz::iwa);
