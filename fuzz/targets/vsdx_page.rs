#![no_main]
ken_fuzz::extracts_part!("office/sample.vsdx", "visio/pages/page1.xml");
