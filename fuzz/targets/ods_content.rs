#![no_main]
ken_fuzz::extracts_part!("sample.ods", "content.xml");
