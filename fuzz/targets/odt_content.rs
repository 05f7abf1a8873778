#![no_main]
ken_fuzz::extracts_part!("sample.odt", "content.xml");
