#![no_main]
ken_fuzz::extracts!("letter.msg");
