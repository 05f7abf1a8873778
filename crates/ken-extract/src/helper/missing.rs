//! Programs and modules that are not installed: their names, their packages, and whether they are
//! present now.
//!
//! Recoll's filters name what they miss in their own way: `djvutxt`, `python3:py7zr or
//! python3:pylzma`, `Perl::Image::ExifTool`.

use std::path::{Path, PathBuf};

use super::handler::SearchPath;

/// Helpers, each with its Debian package.
#[rustfmt::skip] // a table reads better as one
const PACKAGES: &[(&str, &str)] = &[
    ("7z", "7zip"), ("Perl::Image::ExifTool", "libimage-exiftool-perl"), ("abw2text", "abiword"),
    ("antiword", "antiword"), ("aspell", "aspell"), ("bunzip2", "bzip2"), ("brotli", "brotli"),
    ("catdoc", "catdoc"), ("catdvi", "catdvi"), ("cdr2text", "libcdr-tools"),
    ("detex", "texlive-binaries"), ("djvused", "djvulibre-bin"), ("djvutxt", "djvulibre-bin"),
    ("exiftool", "libimage-exiftool-perl"), ("ffmpeg", "ffmpeg"), ("ffprobe", "ffmpeg"),
    ("groff", "groff"), ("gs", "ghostscript"), ("iconv", "libc-bin"), ("info", "info"),
    ("jupyter", "jupyter-nbconvert"), ("key2text", "libetonyek-tools"), ("lz4", "lz4"),
    ("lzip", "lzip"), ("mutool", "mupdf-tools"), ("numbers2text", "libetonyek-tools"),
    ("pages2text", "libetonyek-tools"), ("pandoc", "pandoc"), ("pdfinfo", "poppler-utils"),
    ("pdftoppm", "poppler-utils"), ("pdftotext", "poppler-utils"), ("perl", "perl"),
    ("pffexport", "pff-tools"), ("ps2ascii", "ghostscript"), ("ps2txt", "ghostscript"),
    ("pub2xhtml", "libmspub-tools"), ("python3", "python3"), ("python3:chm", "python3-chm"),
    ("python3:epub", "python3-ebooklib"), ("python3:filelock", "python3-filelock"),
    ("python3:icalendar", "python3-icalendar"), ("python3:libxml2", "python3-libxml2"),
    ("python3:libxslt", "python3-libxslt1"), ("python3:lxml", "python3-lxml"),
    ("python3:mutagen", "python3-mutagen"), ("python3:olefile", "python3-olefile"),
    ("python3:py7zr", "python3-py7zr"), ("python3:pyexiv2", "python3-py3exiv2"),
    ("python3:rarfile", "python3-rarfile"), ("python3:vobject", "python3-vobject"),
    ("rcluncomp", "recollcmd"), ("tesseract", "tesseract-ocr"), ("unrtf", "unrtf"),
    ("unxz", "xz-utils"), ("unzip", "unzip"), ("unzstd", "zstd"), ("untex", "untex"),
    ("vsd2text", "libvisio-tools"), ("vss2text", "libvisio-tools"), ("wks2text", "libwps-tools"),
    ("wpd2html", "libwpd-tools"), ("wpd2text", "libwpd-tools"), ("wpg2svg", "libwpg-tools"),
    ("wps2text", "libwps-tools"), ("xsltproc", "xsltproc"), ("zcat", "gzip"),
];

/// Returns the program that a shell could not find, if its complaint says so.
pub(super) fn not_found(complaint: &str) -> Option<&str> {
    const ENDINGS: [&str; 3] = [
        ": command not found",
        ": not found",
        ": No such file or directory",
    ];
    let said = ENDINGS.iter().find_map(|end| complaint.strip_suffix(end))?;
    let name = said.rsplit(": ").next()?;
    let name = name.trim_matches(|c| "'\"`‘’".contains(c));
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    is_name.then_some(name)
}

/// Returns the module that a program in Python could not import, if its complaint says so.
pub(super) fn python_module(complaint: &str) -> Option<&str> {
    let (error, module) = complaint.split_once("No module named ")?;
    let is_import = error.contains("ModuleNotFoundError:") || error.contains("ImportError:");
    let module = module.trim_start_matches(['\'', '"']);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let end = module.find(|c| !is_name(c)).unwrap_or(module.len());
    (is_import && end > 0).then(|| &module[..end])
}

/// Returns the Debian packages of which any one brings what is missing; empty if none is known.
pub fn packages(what: &str) -> Vec<&'static str> {
    let mut packages: Vec<_> = alternatives(what).filter_map(package).collect();
    packages.dedup();
    packages
}

fn package(name: &str) -> Option<&'static str> {
    let row = PACKAGES.iter().find(|(known, _)| *known == name);
    let of_recoll = name.starts_with("rcl").then_some("recollcmd");
    row.map(|(_, package)| *package).or(of_recoll)
}

/// Returns the alternatives, of which one is enough.
fn alternatives(what: &str) -> impl Iterator<Item = &str> {
    // A path also contains slashes.
    let slash = if what.starts_with('/') { '\0' } else { '/' };
    let names = what.split(slash).flat_map(|part| part.split([' ', ',']));
    names.filter(|name| !name.is_empty() && *name != "or")
}

/// Returns whether one of the alternatives is present now.
pub(super) fn is_present(what: &str, search_path: SearchPath<'_>) -> bool {
    alternatives(what).any(|name| match name.split_once(':') {
        Some(("python3" | "python", module)) => has_python_module(module),
        Some(("Perl", module)) => has_perl_module(module.trim_start_matches(':')),
        _ => search_path.find(name).is_some(),
    })
}

fn has_python_module(module: &str) -> bool {
    let is_there = |folder: &Path| {
        [module.to_owned(), format!("{module}.py")]
            .iter()
            .any(|name| fs_err::exists(folder.join(name)).unwrap_or(false))
    };
    let mut folders = vec![PathBuf::from("/usr/lib/python3/dist-packages")];
    for library in ["/usr/lib", "/usr/local/lib"] {
        for version in entries(Path::new(library), "python3.") {
            folders.extend(["dist-packages", "site-packages", ""].map(|name| version.join(name)));
        }
    }
    folders.iter().any(|folder| is_there(folder))
}

fn has_perl_module(module: &str) -> bool {
    let file = format!("{}.pm", module.replace("::", "/"));
    let mut folders = ["/usr/share/perl5", "/usr/local/share/perl"]
        .map(PathBuf::from)
        .to_vec();
    for architecture in entries(Path::new("/usr/lib"), "") {
        folders.extend(entries(&architecture, "perl5"));
    }
    let exists = |folder: &PathBuf| fs_err::exists(folder.join(&file)).unwrap_or(false);
    folders.iter().any(exists)
}

/// Returns the entries of a folder whose names begin with `prefix`.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_for_each_alternative() {
        assert_eq!(packages("wpd2html"), ["libwpd-tools"]);
        assert_eq!(packages("rclfoo.py"), ["recollcmd"]);
        assert_eq!(
            packages("python3:py7zr or python3:pylzma"),
            ["python3-py7zr"]
        );
        assert_eq!(packages("python3:lxml/python3:chm").len(), 2);
        assert!(packages("/opt/thing").is_empty());
    }

    #[test]
    fn presence_is_looked_for_where_each_sort_lives() {
        let path = [PathBuf::from("/bin")];
        let search_path = SearchPath {
            filters: &[],
            path: &path,
        };
        assert!(is_present("no-such or sh", search_path));
        assert!(is_present("/bin/sh", search_path));
        assert!(!is_present(
            "python3:no_such_module or no-such",
            search_path
        ));
        assert!(!is_present("Perl::No::Such", search_path));
    }

    #[test]
    fn shells_report_what_they_do_not_find() {
        for (complaint, expected) in [
            ("/x/rclfoo: 3: antiword: not found", Some("antiword")),
            ("sh: line 1: antiword: command not found", Some("antiword")),
            (
                "env: \u{2018}python9\u{2019}: No such file or directory",
                Some("python9"),
            ),
            ("the file was not found", None),
            ("it: has no: head : not found", None),
        ] {
            assert_eq!(not_found(complaint), expected, "{complaint}");
        }
    }
}
