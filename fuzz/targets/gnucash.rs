#![no_main]
ken_fuzz::extracts!("book.gnucash");
