#![no_main]
ken_fuzz::extracts!("file.icml");
