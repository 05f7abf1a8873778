#![no_main]
ken_fuzz::extracts!("talk.ppt");
