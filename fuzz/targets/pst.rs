#![no_main]
ken_fuzz::extracts!("mail.pst");
