#![no_main]
ken_fuzz::extracts!("scan.tif");
