#![no_main]
ken_fuzz::extracts_part!("sample.xlsx", "xl/worksheets/sheet1.xml");
