#![no_main]
ken_fuzz::extracts!("files.7z");
