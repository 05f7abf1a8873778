#![no_main]
ken_fuzz::extracts!("disc.iso");
