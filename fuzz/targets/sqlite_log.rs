#![no_main]
ken_fuzz::extracts!("live.sqlite-wal");
