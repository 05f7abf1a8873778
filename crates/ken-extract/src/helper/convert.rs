//! Programs that turn what only they can interpret into a format that ken reads.
//!
//! A page of PostScript is a program, so ken reads what the comments say of a file and no more.
//! Ghostscript runs it and writes PDF, without its pictures and lines, in which ken's own reader finds
//! words, lines and pages. Ghostscript's text (device `txtwrite`) takes as long and has neither pages
//! nor, where a driver places words one by one, the blanks between them: of the manual of bzip2 it
//! makes 1,678 words, where the way through PDF finds 18,600.

use super::handler::{Handler, Places};
use super::{Helpers, ended};
use crate::formats::postscript;
use crate::{Error, Input, Limits};

/// Media types and the rows of their programs, in the syntax of `mimeconf`.
const CONVERTERS: &[(&str, &str)] = &[(
    "application/postscript",
    // What the program prints itself must not get into the output.
    "exec gs -q -dSAFER -dBATCH -dNOPAUSE -dFILTERIMAGE -dFILTERVECTOR -sDEVICE=pdfwrite \
     -sstdout=%stderr -o - ; mimetype = application/pdf",
)];

/// Returns the handlers of all converters.
pub(super) fn handlers(places: Places<'_>) -> impl Iterator<Item = Handler> {
    let rows = CONVERTERS.iter();
    rows.filter_map(move |(media_type, row)| Handler::parse(media_type, row, places))
}

/// What a program made of an input.
pub(crate) struct Converted {
    /// Media type of the content.
    pub(crate) media_type: String,
    /// As much as the program wrote; may be empty.
    pub(crate) content: Vec<u8>,
    /// Why that is not all.
    pub(crate) result: Result<(), Error>,
}

impl Helpers {
    /// Returns the name of the program that makes files of a media type readable, if one does.
    pub fn converter_of(&self, media_type: &str) -> Option<&str> {
        let index = self.table.find_converter(media_type)?;
        Some(&self.table.handlers.get(index)?.name)
    }

    /// Has a program convert an input; none if there is nothing to convert.
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
        let places = Places {
            filters: &[],
            path: &[],
        };
        assert_eq!(handlers(places).count(), CONVERTERS.len());
        for handler in handlers(places) {
            assert!(is_converted(&handler.media_type));
            assert!(formats::by_media_type(&handler.media_type).is_some());
            assert!(!super::super::packages(&handler.name).is_empty());
            let output = handler.output.unwrap();
            assert!(detect::by_media_type(&output).is_some(), "{output}");
            assert!(!is_converted(&output));
        }
    }
}
