#![no_main]
ken_fuzz::extracts!("feed.rss");
