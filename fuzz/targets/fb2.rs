#![no_main]
ken_fuzz::extracts!("book.fb2");
