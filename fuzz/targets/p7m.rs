#![no_main]
ken_fuzz::extracts!("file.p7m");
