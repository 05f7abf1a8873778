#![no_main]
ken_fuzz::extracts_part!("sample.epub", "OEBPS/book.opf");
