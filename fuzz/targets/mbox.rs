#![no_main]
ken_fuzz::extracts!("inbox.mbox");
