#![no_main]
ken_fuzz::extracts!("table.xlsb");
