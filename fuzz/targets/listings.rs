#![no_main]
ken_fuzz::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ken_walk::fuzzing::listings(bytes);
});
