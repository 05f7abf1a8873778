#![no_main]
ken_fuzz::extracts!("song.wv");
