#![no_main]
ken_fuzz::extracts!("print.oxps");
