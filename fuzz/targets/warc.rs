#![no_main]
ken_fuzz::extracts!("crawl.warc");
