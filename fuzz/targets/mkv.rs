#![no_main]
ken_fuzz::extracts!("film.mkv");
