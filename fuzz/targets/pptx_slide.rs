#![no_main]
ken_fuzz::extracts_part!("sample.pptx", "ppt/slides/slide2.xml");
