//! The messages of a mailbox in a commit: the offset of each in its file, and a hash of its content.
//! A changed mailbox is compared with them, and equal messages stay.

use ken_core::{Field, FileKey, MessageSpan};
use ken_engine::{DocAddress, Mailbox, MessageId, MessageOfFile};
use tantivy::schema::{Field as Column, IndexRecordOption};
use tantivy::{DocSet, Searcher, SegmentReader, TERMINATED, Term};

use crate::doc_address::AddressParts;
use crate::postings::files;
use crate::schema::{Columns, DIGEST, KEY, MESSAGE, OFFSET, STAMP};

pub(crate) fn read(
    searcher: &Searcher,
    columns: &Columns,
    key: FileKey,
) -> tantivy::Result<Mailbox> {
    let mut mailbox = Mailbox::default();
    for (segment, reader) in (0..).zip(searcher.segment_readers()) {
        let fast = reader.fast_fields();
        let (messages, stamps) = (fast.u64(MESSAGE)?, fast.u64(STAMP)?);
        let spans = message_spans(reader)?;
        files::each_document(reader, columns.file, [(key, ())], |doc, ()| {
            if reader.is_deleted(doc) {
                return;
            }
            if stamps.first(doc).is_some() {
                mailbox.own = Some(DocAddress::at(segment, doc));
            }
            if let Some(message) = messages.first(doc) {
                let span = mailbox
                    .messages
                    .entry(MessageId::from_number(message))
                    .or_default();
                *span = span.or_else(|| spans(doc));
            }
        })?;
    }
    // Most files that could be mailboxes are not. Failed documents are searched one by one.
    if mailbox.messages.is_empty() {
        return Ok(mailbox);
    }
    for (segment, reader) in (0..).zip(searcher.segment_readers()) {
        let fast = reader.fast_fields();
        let (messages, keys) = (fast.u64(MESSAGE)?, fast.u64(KEY)?);
        let failed = Term::from_field_text(columns.of(Field::Is), "failed");
        let terms = reader.inverted_index(failed.field())?;
        let Some(mut postings) = terms.read_postings(&failed, IndexRecordOption::Basic)? else {
            continue;
        };
        while postings.doc() != TERMINATED {
            let doc = postings.doc();
            if keys.first(doc) == Some(key.0) && !reader.is_deleted(doc) {
                let message = messages.first(doc).map(MessageId::from_number);
                mailbox.failed.push((message, DocAddress::at(segment, doc)));
            }
            postings.advance();
        }
    }
    Ok(mailbox)
}

/// Returns the bytes of a message in its file, if it can be read from there.
pub(crate) fn message_span(
    searcher: &Searcher,
    columns: &Columns,
    key: FileKey,
    message: MessageId,
) -> tantivy::Result<Option<MessageSpan>> {
    let mut found = None;
    for reader in searcher.segment_readers() {
        let messages = reader.fast_fields().u64(MESSAGE)?;
        let spans = message_spans(reader)?;
        files::each_document(reader, columns.file, [(key, ())], |doc, ()| {
            if messages.first(doc) == Some(message.number()) && !reader.is_deleted(doc) {
                found = spans(doc).or(found);
            }
        })?;
    }
    Ok(found)
}

/// Returns a function from the documents of a segment to their bytes in the mailbox.
pub(crate) fn message_spans(
    segment: &SegmentReader,
) -> tantivy::Result<impl Fn(tantivy::DocId) -> Option<MessageSpan> + use<>> {
    let offsets = segment.fast_fields().u64(OFFSET)?;
    let digests = segment.fast_fields().u64(DIGEST)?;
    Ok(move |doc| {
        let (offset, digest) = offsets.first(doc).zip(digests.first(doc))?;
        Some(MessageSpan { offset, digest })
    })
}

pub(crate) fn messages_at(
    searcher: &Searcher,
    addresses: &[DocAddress],
) -> tantivy::Result<Vec<MessageOfFile>> {
    let mut found = Vec::with_capacity(addresses.len());
    // In the order of addresses this is one opening for each segment.
    for addresses in addresses.chunk_by(|a, b| a.segment() == b.segment()) {
        let Some(first) = addresses.first() else {
            continue;
        };
        let columns = searcher.segment_reader(first.segment()).fast_fields();
        let (keys, messages) = (columns.u64(KEY)?, columns.u64(MESSAGE)?);
        found.extend(addresses.iter().map(|at| {
            let key = FileKey(keys.first(at.doc()).unwrap_or_default());
            (key, messages.first(at.doc()).map(MessageId::from_number))
        }));
    }
    Ok(found)
}

pub(crate) fn documents_of(
    searcher: &Searcher,
    file: Column,
    messages: &[MessageOfFile],
) -> tantivy::Result<Vec<Vec<DocAddress>>> {
    let mut found = vec![Vec::new(); messages.len()];
    for (segment, reader) in (0..).zip(searcher.segment_readers()) {
        let numbers = reader.fast_fields().u64(MESSAGE)?;
        let keys = messages.chunk_by(|(a, _), (b, _)| a == b);
        let keys = keys.filter_map(|same| Some((same.first()?.0, same.first()?.0)));
        files::each_document(reader, file, keys, |doc, key| {
            let message = (key, numbers.first(doc).map(MessageId::from_number));
            if !reader.is_deleted(doc)
                && let Ok(at) = messages.binary_search(&message)
            {
                found[at].push(DocAddress::at(segment, doc));
            }
        })?;
    }
    Ok(found)
}
