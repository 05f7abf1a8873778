//! Converters: helpers that turn a format which only they can interpret into one that ken reads.
//!
//! A page of PostScript is a program, so ken itself reads only what the comments say about a file.
//! Ghostscript runs the program and writes PDF without its pictures and lines, in which ken's own
//! extractor finds words, lines and pages. Ghostscript's text output (device `txtwrite`) takes as
//! long and has no pages; where a driver search_path words one by one, it also lacks the spaces between
//! them. In the manual of bzip2 it yields 1,678 words, where the way through PDF yields 18,600.

use super::handler::{Handler, SearchPath};
use super::{Helpers, ended};
use crate::formats::postscript;
use crate::{Error, Input, Limits};

/// Media types and the rows of their converters, in the syntax of `mimeconf`.
const CONVERTERS: &[(&str, &str)] = &[(
    "application/postscript",
    // Messages of the program itself must not get into the output.
    "exec gs -q -dSAFER -dBATCH -dNOPAUSE -dFILTERIMAGE -dFILTERVECTOR -sDEVICE=pdfwrite \
     -sstdout=%stderr -o - ; mimetype = application/pdf",
)];

/// Returns the handlers of all converters.
pub(super) fn handlers(search_path: SearchPath<'_>) -> impl Iterator<Item = Handler> {
    let rows = CONVERTERS.iter();
    rows.filter_map(move |(media_type, row)| Handler::parse(media_type, row, search_path))
}

/// The result of converting an input.
pub(crate) struct Converted {
    /// Media type of the content.
    pub(crate) media_type: String,
    /// What the converter wrote; may be empty.
    pub(crate) content: Vec<u8>,
    /// Why the content is not complete.
    pub(crate) result: Result<(), Error>,
}

impl Helpers {
    /// Returns the name of the converter for files of a media type, if any.
    pub fn converter_of(&self, media_type: &str) -> Option<&str> {
        let index = self.table.find_converter(media_type)?;
        Some(&self.table.handlers.get(index)?.name)
    }

    /// Converts an input; returns none if there is nothing to convert.
    pub(crate) fn convert(
        &self,
        input: &Input<'_>,
        media_type: &str,
        limits: &Limits,
    ) -> Option<Converted> {
        let index = self.table.find_converter(media_type)?;
        let handler = self.table.handlers.get(index)?;
        if !postscript::has_pages(input).unwrap_or(true) {
            return None;
        }
        let mut content = Vec::new();
        let result = self.checked(index, handler, input, limits, || {
            let (mut process, printed) = self.run(handler, input, limits)?;
            let result;
            (content, result) = ended(handler, &mut process, printed, limits);
            result
        });
        Some(Converted {
            media_type: handler.output.clone().unwrap_or_default(),
            content,
            result,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::is_converted;
    use crate::{detect, formats};

    #[test]
    fn what_is_converted_is_read_in_the_process_and_by_a_known_package() {
        let search_path = SearchPath {
            filters: &[],
            path: &[],
        };
        assert_eq!(handlers(search_path).count(), CONVERTERS.len());
        for handler in handlers(search_path) {
            assert!(is_converted(&handler.media_type));
            assert!(formats::by_media_type(&handler.media_type).is_some());
            assert!(!super::super::packages(&handler.name).is_empty());
            let output = handler.output.unwrap();
            assert!(detect::by_media_type(&output).is_some(), "{output}");
            assert!(!is_converted(&output));
        }
    }
}
