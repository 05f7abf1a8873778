#![no_main]
ken_fuzz::extracts!("page.webarchive");
