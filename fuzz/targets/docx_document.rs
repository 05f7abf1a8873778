#![no_main]
ken_fuzz::extracts_part!("sample.docx", "word/document.xml");
