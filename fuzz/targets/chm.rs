#![no_main]
ken_fuzz::extracts!("manual.chm");
