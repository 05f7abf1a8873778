#![no_main]
ken_fuzz::extracts!("song.mp3");
