#![no_main]
ken_fuzz::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ken_fuzz::reads_query(ken_search::parse::Syntax::Mu, bytes);
});
