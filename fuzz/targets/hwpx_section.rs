#![no_main]
ken_fuzz::extracts_part!("office/sample.hwpx", "Contents/section0.xml");
