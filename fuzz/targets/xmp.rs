#![no_main]
ken_fuzz::extracts!("photo.xmp");
