#![no_main]
ken_fuzz::extracts_part!("iwork/talk.key", "Index/Slide-9.iwa", ken_fuzz::iwa);
