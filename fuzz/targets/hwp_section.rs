//! Records of a section of HWP 5, which its file compresses.
#![no_main]
ken_fuzz::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ken_extract::fuzzing::hwp_section(bytes);
});
