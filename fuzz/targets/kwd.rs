#![no_main]
ken_fuzz::extracts!("old.kwd");
