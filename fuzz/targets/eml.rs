#![no_main]
ken_fuzz::extracts!("message.eml");
