#![no_main]
ken_fuzz::extracts!("files.deb");
