#![no_main]
ken_fuzz::extracts!("paper.pdf");
