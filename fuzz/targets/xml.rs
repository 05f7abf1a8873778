#![no_main]
ken_fuzz::extracts!("survey-tei.xml");
