//! Pictures of which only the size is read, by `imagesize`; the first byte chooses the format.
#![no_main]

const NAMES: [&str; 9] = [
    "a.bmp", "a.dds", "a.exr", "a.ico", "a.jxl", "a.pnm", "a.qoi", "a.tga", "a.xpm",
];

ken_fuzz::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((first, bytes)) = bytes.split_first() {
        ken_fuzz::check(NAMES[usize::from(*first) % NAMES.len()], bytes);
    }
});
