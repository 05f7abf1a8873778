#![no_main]
ken_fuzz::extracts!("main.rs");
