#![no_main]
ken_fuzz::extracts!("map.svg");
