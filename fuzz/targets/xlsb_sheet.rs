#![no_main]
ken_fuzz::extracts_part!("office/sample.xlsb", "xl/worksheets/a.bin");
