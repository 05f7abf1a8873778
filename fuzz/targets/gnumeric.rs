#![no_main]
ken_fuzz::extracts!("sheet.gnumeric");
