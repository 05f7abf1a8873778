//! The character sets of Windows (MS-WMF 2.1.1.5), by which fonts of documents and pictures name code pages.

use super::code_page::WESTERN;

/// Code page of fonts whose characters are pictures.
pub(crate) const SYMBOL: u16 = 42;

/// Returns the code page of a Windows character set; none if it is that of the file.
pub(crate) fn of_charset(charset: i32) -> Option<u16> {
    Some(match charset {
        0 => WESTERN,
        2 => SYMBOL,
        77 => 10000,
        78 => 10001,
        79 => 10003,
        80 => 10008,
        81 => 10002,
        83 => 10005,
        84 => 10004,
        85 => 10006,
        86 => 10081,
        88 => 10029,
        89 => 10007,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 | 181 => 1255,
        178..=180 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        254 => 437,
        255 => 850,
        _ => return None,
    })
}
