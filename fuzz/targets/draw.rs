#![no_main]
ken_fuzz::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ken_extract::fuzzing::draw(bytes);
});
