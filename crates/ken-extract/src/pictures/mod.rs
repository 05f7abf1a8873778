//! What does a document look like? [`Pictures`] draws a page of a PDF file or a picture, scaled to
//! the width that is wanted, and says where on a page its words are.
//!
//! Foreign bytes are drawn in a sandboxed worker under the limits of extraction, a worker for each
//! picture. What comes back is a PNG or JPEG that ken encoded itself, never a byte of the document.
//! Documents inside other files are reached as extraction reaches them. A document that cannot be
//! drawn is an error with its cause; the caller can still show its text.

mod gate;
mod kept;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use ken_core::{Cause, Crash, Ipath, MessageSpan, Operation, Reader};

use self::gate::Gate;
use self::kept::Kept;
use crate::picture::{Drawn, MAX_WIDTH, NAME, Order, PageText, Picture};
use crate::{Extractor, Input, Options};

/// A file with a document, and the way to the document in it.
#[derive(Clone, Copy)]
pub struct Original<'a> {
    /// The path of the file, whose name helps detection. It is not opened.
    pub path: &'a Path,
    /// The open file, which nobody else reads meanwhile: it has one position for all readers.
    pub file: &'a File,
    /// The member path of the document.
    pub ipath: &'a Ipath,
    /// The position of the message in its mailbox that is or holds the document, if an index knows
    /// it, and the seed of the index ([`Extractor::with_seed`]).
    pub message: Option<(MessageSpan, u64)>,
}

/// Draws documents. It may be shared by threads; few of them draw at once, and the others wait.
pub struct Pictures {
    options: Options,
    kept: Option<Kept>,
    gate: Gate,
}

impl Pictures {
    /// Creates a drawer with these limits, passwords and worker. Without a worker, everything is
    /// drawn in this process.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            kept: None,
            gate: Gate::new(),
        }
    }

    /// Makes it keep pictures in a private folder, about `max_bytes` of them.
    #[must_use]
    pub fn with_cache(self, folder: PathBuf, max_bytes: u64) -> Self {
        Self {
            kept: Some(Kept::new(folder, max_bytes)),
            ..self
        }
    }

    /// Draws a page of a PDF file, counted from 0, `width` pixels wide. A very high page is
    /// narrower. A picture has one page, and is not enlarged.
    ///
    /// # Errors
    /// Fails if the document cannot be reached, read or drawn within the limits.
    pub fn page(&self, original: &Original<'_>, page: u32, width: u32) -> Result<Picture, Cause> {
        let width = width.clamp(1, MAX_WIDTH);
        self.picture(original, Order::Page { page, width })
    }

    /// Draws a small picture of a document, at most `width` pixels wide and half as high again: the
    /// first page of a PDF file, a picture, or the cover that a book or an office document holds.
    ///
    /// # Errors
    /// Fails as [`Self::page`] does, or if the document holds no picture of itself.
    pub fn thumbnail(&self, original: &Original<'_>, width: u32) -> Result<Picture, Cause> {
        let width = width.clamp(1, MAX_WIDTH);
        self.picture(original, Order::Thumbnail { width })
    }

    /// Returns the text of a page of a PDF file, counted from 0, with the places of its words.
    ///
    /// # Errors
    /// Fails as [`Self::page`] does.
    pub fn words(&self, original: &Original<'_>, page: u32) -> Result<PageText, Cause> {
        match self.drawn(original, Order::Text { page })? {
            Drawn::Text(text) => Ok(text),
            Drawn::Picture(_) => Err(nonsense()),
        }
    }

    fn picture(&self, original: &Original<'_>, order: Order) -> Result<Picture, Cause> {
        let kept = self.kept.as_ref();
        let entry = kept.and_then(|kept| kept.entry(original, order));
        if let Some(picture) = entry.as_ref().and_then(kept::Entry::get) {
            return Ok(picture);
        }
        match self.drawn(original, order)? {
            Drawn::Picture(picture) => {
                if let Some(entry) = entry {
                    entry.put(&picture);
                }
                Ok(picture)
            }
            Drawn::Text(_) => Err(nonsense()),
        }
    }

    fn drawn(&self, original: &Original<'_>, order: Order) -> Result<Drawn, Cause> {
        let _permit = self.gate.enter();
        let extractor = match original.message {
            Some((_, seed)) => Extractor::new(&self.options).with_seed(seed),
            None => Extractor::new(&self.options),
        };
        let input = open(&extractor, original);
        let mut input = input.map_err(|error| Cause::system(Operation::Read, &error))?;
        extractor.draw(&mut input, order)
    }
}

/// Returns the document as an input: its file, or a member of it.
fn open<'a>(extractor: &Extractor<'_>, original: &Original<'a>) -> io::Result<Input<'a>> {
    let Original {
        path, file, ipath, ..
    } = *original;
    let mut whole = Input::at(path, file, file.metadata()?.len());
    if ipath.is_root() {
        return Ok(whole);
    }
    let mut message = match original.message {
        Some((span, _)) => {
            let ipath = Ipath::from_joined(ipath.prefix(1));
            let member = extractor.message_at(&whole.name, file, span, &ipath)?;
            member.map(Input::member)
        }
        None => None,
    };
    let start = message.as_mut().unwrap_or(&mut whole);
    if start.ipath == *ipath {
        return message.ok_or_else(|| io::ErrorKind::NotFound.into());
    }
    let member = extractor.member(start, ipath);
    member
        .map(Input::member)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Returns the cause of an answer that answers something else.
fn nonsense() -> Cause {
    Cause::Crashed {
        reader: Reader::Parser(NAME.to_owned()),
        how: Crash::Nonsense("another answer than was asked for".to_owned()),
        said: String::new(),
    }
}
