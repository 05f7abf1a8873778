#![no_main]
ken_fuzz::libfuzzer_sys::fuzz_target!(|packet: &[u8]| {
    ken_extract::beside::sidecar(packet);
});
