#![no_main]
ken_fuzz::extracts!("picture.jp2");
