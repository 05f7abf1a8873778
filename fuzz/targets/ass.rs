#![no_main]
ken_fuzz::extracts!("a.ass");
