#![no_main]
ken_fuzz::extracts!("list.opml");
