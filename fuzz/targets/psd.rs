#![no_main]
ken_fuzz::extracts!("poster.psd");
