#![no_main]
ken_fuzz::extracts!("notes.sqlite");
