//! Recognises text in pictures with Tesseract; Poppler's `pdftoppm` renders pages of PDF.
//!
//! Both run like other helpers, in a sandbox. Each page is rendered and read separately, so that a
//! long document needs neither much space nor one long deadline.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use ken_core::Setting;

use super::fault::Fault;
use super::handler::{Handler, Method};
use super::work_folder::WorkFolder;
use super::{Helpers, ended, read_bounded};
use crate::formats::PICTURES;
use crate::{Error, Input, Limits, text};

/// Dots per inch of a rendered page, the resolution that Tesseract is made for.
const RESOLUTION: &str = "300";
/// A picture with fewer pixels is an icon.
const MIN_PIXELS: i64 = 10_000;
/// Returns whether a document is a picture without known text, or has a page without text.
pub fn is_textless(document: &ken_core::Document) -> bool {
    use ken_core::Field;
    if document.failure.is_some() {
        return false;
    }
    if document.media_type == "application/pdf" {
        let n_pages = document.number(Field::Pages).unwrap_or(0);
        return n_pages > 0 && !blank_pages(&document.body, n_pages).is_empty();
    }
    let side = |field| document.number(field).unwrap_or(i64::from(u16::MAX));
    PICTURES.contains(&&*document.media_type)
        && document.body.trim().is_empty()
        && side(Field::Width).saturating_mul(side(Field::Height)) >= MIN_PIXELS
}

/// Returns the numbers, from 0, of the pages without text.
fn blank_pages(body: &str, n_pages: i64) -> Vec<usize> {
    let n_pages = usize::try_from(n_pages).unwrap_or(0);
    let mut pages = body.split('\x0c');
    let is_blank = |page: Option<&str>| page.is_none_or(|page| page.trim().is_empty());
    (0..n_pages).filter(|_| is_blank(pages.next())).collect()
}

/// Returns the text that Tesseract printed for a page, without the form feed at its end.
fn page_text(printed: Vec<u8>) -> String {
    let text = text::decode_owned(printed, Some("utf-8"));
    text.trim_end().to_owned()
}

/// Reads output of Tesseract, as the text of pages.
#[cfg(any(fuzzing, test))]
pub(crate) fn read_pages(bytes: &[u8]) {
    let text = page_text(bytes.to_vec());
    let n_pages = bytes.len() as i64;
    let blank = blank_pages(&text, n_pages);
    assert!(blank.len() <= bytes.len());
}

impl Helpers {
    /// Returns the Debian packages of missing programs and languages (in Tesseract's names, joined
    /// by `+`) that are needed to recognise text.
    ///
    /// # Errors
    /// Fails if Tesseract does not list its languages.
    pub fn packages_for_ocr(&self, languages: &str, limits: &Limits) -> Result<Vec<String>, Error> {
        let absent = |name: &&str| super::search_path(&self.options).find(name).is_none();
        let programs = ["tesseract", "pdftoppm"].into_iter().filter(absent);
        let packages = programs.flat_map(super::packages).map(str::to_owned);
        let mut packages: Vec<String> = packages.collect();
        if absent(&"tesseract") {
            return Ok(packages);
        }
        let run = Run {
            helpers: self,
            work: self.folder_for_ocr()?,
            limits,
            languages,
        };
        let listed = run.start("tesseract", vec!["--list-langs".into()])?;
        let listed = String::from_utf8_lossy(&listed);
        let known: Vec<&str> = listed.lines().map(str::trim).collect();
        let unknown = languages.split('+').filter(|name| !known.contains(name));
        packages.extend(unknown.map(|name| {
            let name = name.to_lowercase().replace(|c| "_/".contains(c), "-");
            format!("tesseract-ocr-{name}")
        }));
        Ok(packages)
    }

    fn folder_for_ocr(&self) -> Result<Arc<WorkFolder>, Error> {
        let work = self.work_folder();
        let work = work.map_err(|fault| fault.into_error("tesseract", ""))?;
        Ok(Arc::new(work))
    }

    /// Reads the pages of a document that have no text, and inserts their text. `languages` are
    /// Tesseract's, joined by `+`.
    ///
    /// # Errors
    /// Fails with the reason if a page could not be read; the document keeps the text that was read
    /// before.
    pub fn recognise(
        &self,
        input: &Input<'_>,
        document: &mut ken_core::Document,
        languages: &str,
        limits: &Limits,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let work = self.folder_for_ocr()?;
        let file = work.put(input)?;
        let run = Run {
            helpers: self,
            work,
            limits,
            languages,
        };
        if document.media_type != "application/pdf" {
            document.body = run.picture(&file)?;
            return Ok(());
        }
        let n_pages = document.number(ken_core::Field::Pages).unwrap_or(0);
        let mut pages: Vec<String> = document.body.split('\x0c').map(str::to_owned).collect();
        let mut result = Ok(());
        let mut rest = limits.max_text_bytes.saturating_sub(document.body.len());
        for number in blank_pages(&document.body, n_pages) {
            if is_cancelled() {
                break;
            }
            match run.page(&file, number + 1) {
                Ok(page) if page.len() <= rest => {
                    rest -= page.len();
                    if pages.len() <= number {
                        pages.resize(number + 1, String::new());
                    }
                    pages[number] = page;
                }
                Ok(_) => break,
                Err(error) if error.is_passing() => return Err(error),
                Err(error) => result = result.and(Err(error)),
            }
        }
        document.body = pages.join("\x0c");
        result
    }
}

/// The programs at work on one file.
struct Run<'h> {
    helpers: &'h Helpers,
    work: Arc<WorkFolder>,
    limits: &'h Limits,
    languages: &'h str,
}

impl Run<'_> {
    fn page(&self, file: &Path, number: usize) -> Result<String, Error> {
        let number = number.to_string();
        let picture = self.work.scratch().join("page");
        let arguments: Vec<OsString> = vec![
            "-f".into(),
            (&number).into(),
            "-l".into(),
            (&number).into(),
            "-r".into(),
            RESOLUTION.into(),
            "-gray".into(),
            "-singlefile".into(),
            file.into(),
            (&picture).into(),
        ];
        self.start("pdftoppm", arguments)?;
        self.picture(&picture.with_extension("pgm"))
    }

    fn picture(&self, picture: &Path) -> Result<String, Error> {
        let arguments = vec![
            picture.into(),
            "-".into(),
            "-l".into(),
            self.languages.into(),
        ];
        Ok(page_text(self.start("tesseract", arguments)?))
    }

    fn start(&self, name: &str, arguments: Vec<OsString>) -> Result<Vec<u8>, Error> {
        let handler = Handler {
            name: name.to_owned(),
            media_type: String::new(),
            method: Method::Exec,
            program: super::search_path(&self.helpers.options).find(name),
            arguments: Vec::new(),
            output: None,
            charset: None,
            max_time: None,
        };
        let failed = |fault: Fault| fault.into_error(name, "");
        let work = Arc::clone(&self.work);
        let mut process = self
            .helpers
            .start_with(&handler, work, arguments, Stdio::null(), self.limits)
            .map_err(failed)?;
        process.set_deadline(self.helpers.time_of(&handler));
        let printed = read_bounded(&mut process, self.limits.limit(Setting::MaxMemberBytes));
        let (data, result) = ended(&handler, &mut process, printed, self.limits);
        result.map(|()| data)
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Document, Field, Ipath, Kind};

    use super::*;

    #[test]
    fn textless_are_pages_without_text_and_pictures() {
        let pdf = |body: &str, pages| {
            let mut document = Document::new(Ipath::root(), "application/pdf", Kind::Document);
            document.body = body.to_owned();
            document.add_number(Field::Pages, pages);
            document
        };
        assert!(is_textless(&pdf("", 1)));
        assert!(is_textless(&pdf("one\x0c \n\x0cthree", 3)));
        assert!(!is_textless(&pdf("one\x0ctwo", 2)));
        assert_eq!(blank_pages("one\x0c \x0cthree", 4), [1, 3]);
        let picture = |width| {
            let mut document = Document::new(Ipath::root(), "image/png", Kind::Image);
            document.add_number(Field::Width, width);
            document.add_number(Field::Height, 100);
            document
        };
        assert!(is_textless(&picture(100)));
        assert!(!is_textless(&picture(32)));
    }
}
