#![no_main]
ken_fuzz::extracts!("notes.txt.lzma");
