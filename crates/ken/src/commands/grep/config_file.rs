//! The file of arguments that `KEN_GREP_CONFIG_PATH` names, with one argument on each line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Reads the arguments, without blank lines and lines that start with `#`.
pub(super) fn read(path: &Path) -> std::io::Result<Vec<OsString>> {
    Ok(parse(&fs_err::read(path)?))
}

fn parse(bytes: &[u8]) -> Vec<OsString> {
    let lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let arguments = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    arguments
        .map(|line| OsStr::from_bytes(line).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_one_argument() {
        let arguments = parse(b"# my flags\n--context=2\r\n\n  --glob\n!*.min.js \n#-u");
        assert_eq!(arguments, ["--context=2", "--glob", "!*.min.js"]);
    }
}
