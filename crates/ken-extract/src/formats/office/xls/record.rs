//! Records: a number, a length, and data (MS-XLS 2.1.4). Longer data continue in `CONTINUE`
//! records.

use crate::structure::cursor::Cursor;

/// A record's number and its data.
pub(super) type Record<'a> = (u16, &'a [u8]);

pub(super) const CONTINUE: u16 = 0x3c;

/// Splits a stream into records.
#[derive(Clone, Copy)]
pub(super) struct Records<'a> {
    rest: Cursor<'a>,
}

impl<'a> Records<'a> {
    pub(super) fn new(stream: &'a [u8]) -> Self {
        Self {
            rest: Cursor(stream),
        }
    }

    /// Returns the next record; a truncated one is left out.
    pub(super) fn next(&mut self) -> Option<Record<'a>> {
        let number = self.rest.le_u16()?;
        let length = usize::from(self.rest.le_u16()?);
        Some((number, self.rest.take(length)?))
    }

    /// Returns the data of the next record if it continues this one.
    pub(super) fn next_continued(&mut self) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let (number, data) = ahead.next()?;
        (number == CONTINUE).then(|| {
            *self = ahead;
            data
        })
    }

    /// Returns whether nothing but padding is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.0.iter().all(|&byte| byte == 0)
    }
}
