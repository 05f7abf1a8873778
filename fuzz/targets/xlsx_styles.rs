#![no_main]
ken_fuzz::extracts_part!("sample.xlsx", "xl/styles.xml");
