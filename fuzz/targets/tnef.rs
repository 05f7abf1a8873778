#![no_main]
ken_fuzz::extracts!("winmail.tnef");
