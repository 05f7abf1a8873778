//! 7z archives, with the crate `sevenz-rust2`.
//!
//! An archive consists of blocks, each of which compresses one or many members as one stream. A
//! block is decoded once, in order. Members that are too large are decoded but not kept, because
//! the members after them depend on it. Source: `7zFormat.txt` of the LZMA SDK.

mod header;

use std::io::{self, Read, Seek};

use sevenz_rust2::{
    Archive, ArchiveEntry, Block, BlockDecoder, EncoderMethod, Error as SevenZipError, NtTime,
    Password,
};

use ken_core::Cause;

use crate::input::carry::{CountingReader, release};
use crate::output::Output;
use crate::output::members::{Budget, MemberNames, TRUSTED_BYTES, hand_on};
use crate::{Error, Format, Input, Limits};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("7z", &["application/x-7z-compressed"], extract)
        .members("members, by their path")
        .in_worker()
        .streams();

/// Memory of the decoders of one block; `7z -mx=9` needs 64 to 256 MiB.
const MAX_DECODER_BYTES: u64 = 320 << 20;
/// Seconds between 1601-01-01 and 1970-01-01.
const NT_EPOCH_SECONDS: i64 = 11_644_473_600;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let input = &*input;
    header::check(input, output.limits())?;
    let mut reader = CountingReader::new(input.seekable()?);
    let (archive, password) = open(&mut reader, output.limits())?;
    let password = match password {
        Some(password) => password,
        None => password_of_content(&archive, &mut reader, output.limits()),
    };
    let mut members = Members {
        budget: Budget::new(input.size(), output.limits()),
        names: MemberNames::default(),
        is_done: vec![false; archive.files.len()],
        fatal: None,
        output,
    };
    for number in 0..archive.blocks.len() {
        members.read_block(&archive, number, &password, &mut reader)?;
    }
    members.hand_on_empty(&archive)
}

/// Reads the list of members. If the list is encrypted, also returns the password.
fn open<R: Read + Seek>(
    reader: &mut R,
    limits: &Limits,
) -> Result<(Archive, Option<Password>), Error> {
    match Archive::read(reader, &Password::empty()) {
        Ok(archive) => return Ok((archive, None)),
        Err(SevenZipError::PasswordRequired) => {}
        Err(error) => return Err(in_words(error)),
    }
    for password in limits.passwords.iter().map(Password::from) {
        if let Ok(archive) = Archive::read(reader, &password) {
            return Ok((archive, Some(password)));
        }
    }
    Err(Error::encrypted(&limits.passwords))
}

/// Returns the password that opens the smallest encrypted member, or an empty one.
fn password_of_content<R: Read + Seek>(
    archive: &Archive,
    reader: &mut R,
    limits: &Limits,
) -> Password {
    let encrypted = (0..archive.blocks.len()).filter(|&n| is_encrypted(&archive.blocks[n]));
    let Some(smallest) = encrypted.min_by_key(|&n| archive.blocks[n].get_unpack_size()) else {
        return Password::empty();
    };
    let mut passwords = limits.passwords.iter().map(Password::from);
    let fits = passwords.find(|password| {
        let mut is_right = false;
        let first = &mut |entry: &ArchiveEntry, content: &mut dyn Read| {
            let mut content = content.take(limits.max_member_bytes);
            let n_read = io::copy(&mut content, &mut io::sink())?;
            is_right = n_read == entry.size.min(limits.max_member_bytes);
            // An empty member proves nothing.
            Ok(entry.size == 0)
        };
        let decoder = BlockDecoder::new(1, smallest, archive, password, reader);
        check_decoders(&archive.blocks[smallest]).is_ok()
            && decoder.for_each_entries(first).is_ok()
            && is_right
    });
    fits.unwrap_or_default()
}

fn is_encrypted(block: &Block) -> bool {
    let mut coders = block.coders.iter();
    coders.any(|coder| coder.encoder_method_id() == EncoderMethod::ID_AES256_SHA256)
}

/// Checks the decoders of a block, since the crate trusts the dictionary size in a header.
fn check_decoders(block: &Block) -> Result<(), Error> {
    let n_bytes = block.coders.iter().map(|coder| {
        let window = header::window_bytes(coder.encoder_method_id(), coder.properties());
        match coder.encoder_method_id() {
            // The model of PPMd is allocated at once; a dictionary grows with the content.
            EncoderMethod::ID_PPMD => window,
            _ => window.min(block.get_unpack_size_for_coder(coder)),
        }
    });
    header::check_window(n_bytes.fold(0, u64::saturating_add))
}

/// Hands on the members.
struct Members<'o, 's> {
    budget: Budget,
    names: MemberNames,
    is_done: Vec<bool>,
    /// The error that ended the archive, while it passes through the foreign reader.
    fatal: Option<Error>,
    output: &'o mut Output<'s>,
}

impl Members<'_, '_> {
    fn read_block<R: Read + Seek>(
        &mut self,
        archive: &Archive,
        number: usize,
        password: &Password,
        reader: &mut R,
    ) -> Result<(), Error> {
        let decoder = BlockDecoder::new(1, number, archive, password, reader);
        let first = archive.stream_map.block_first_file_index[number];
        let n_entries = decoder.entry_count();
        let mut at = first;
        let result = check_decoders(&archive.blocks[number]).and_then(|()| {
            let each = &mut |entry: &ArchiveEntry, content: &mut dyn Read| {
                let index = at;
                at += 1;
                match self.read(index, entry, content) {
                    Ok(true) => Ok(true),
                    // A decoder that failed is not used again: LZMA2 would never end.
                    Ok(false) => Err(SevenZipError::Other(
                        "the archive is damaged before it".into(),
                    )),
                    Err(error) => {
                        self.fatal = Some(error);
                        Err(SevenZipError::Other("stopped".into()))
                    }
                }
            };
            decoder.for_each_entries(each).map_err(in_words)
        });
        if let Some(fatal) = self.fatal.take() {
            return Err(fatal);
        }
        let Err(error) = result else {
            return Ok(());
        };
        let no_password = password.is_empty() && is_encrypted(&archive.blocks[number]);
        let cause = Cause::from(match no_password {
            true => Error::encrypted(&self.output.limits().passwords),
            false => error,
        });
        for index in first..first + n_entries {
            if !self.is_done[index] && !archive.files[index].is_directory {
                let failure = Error::Failed(cause.clone());
                self.hand_on(index, &archive.files[index], Err(failure))?;
            }
        }
        Ok(())
    }

    /// Reads a member; returns whether the rest of its block can be read.
    fn read(
        &mut self,
        index: usize,
        entry: &ArchiveEntry,
        content: &mut dyn Read,
    ) -> Result<bool, Error> {
        if entry.is_directory || entry.is_anti_item {
            return Ok(true);
        }
        self.budget.spend(entry.size);
        let allowed = self.budget.check();
        let (content, is_readable) = match allowed.and_then(|()| self.budget.check_size(entry.size))
        {
            Ok(()) => read_entry(entry, content),
            Err(error) => (Err(error), true),
        };
        self.hand_on(index, entry, content)?;
        self.budget.check()?;
        Ok(is_readable)
    }

    fn hand_on(
        &mut self,
        index: usize,
        entry: &ArchiveEntry,
        content: Result<Vec<u8>, Error>,
    ) -> Result<(), Error> {
        self.is_done[index] = true;
        let modified = entry.has_last_modified_date;
        let modified = modified.then(|| seconds(entry.last_modified_date));
        hand_on(&entry.name, modified, content, &mut self.names, self.output)
    }

    /// Hands on members without content, which are in no block.
    fn hand_on_empty(&mut self, archive: &Archive) -> Result<(), Error> {
        for (index, entry) in archive.files.iter().enumerate() {
            let is_file = !entry.is_directory && !entry.is_anti_item;
            if is_file && !entry.has_stream && !self.is_done[index] {
                self.hand_on(index, entry, Ok(Vec::new()))?;
            }
        }
        Ok(())
    }
}

/// Reads the content of a member; returns whether the rest of its block can be read. It can after a
/// wrong checksum, but not after a failure of the decoder.
fn read_entry(entry: &ArchiveEntry, content: &mut dyn Read) -> (Result<Vec<u8>, Error>, bool) {
    let mut bytes = Vec::with_capacity(entry.size.min(TRUSTED_BYTES) as usize);
    match content.take(entry.size).read_to_end(&mut bytes) {
        Ok(n_read) if n_read as u64 == entry.size => (Ok(bytes), true),
        Ok(_) => {
            let message = "the archive ends inside a member";
            (Err(Error::Malformed(message.into())), true)
        }
        Err(error) if is_checksum(&error) => {
            let message = "the checksum of a member is wrong";
            (Err(Error::Malformed(message.into())), true)
        }
        Err(error) => (Err(release(error)), false),
    }
}

fn is_checksum(error: &io::Error) -> bool {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    matches!(cause, Some(SevenZipError::ChecksumVerificationFailed))
}

fn seconds(time: NtTime) -> i64 {
    (u64::from(time) / 10_000_000) as i64 - NT_EPOCH_SECONDS
}

fn in_words(error: SevenZipError) -> Error {
    match error {
        SevenZipError::Io(error, _) => release(error),
        SevenZipError::MaybeBadPassword(_) => Error::Failed(Cause::Password { tried: true }),
        SevenZipError::PasswordRequired => Error::Failed(Cause::Password { tried: false }),
        SevenZipError::UnsupportedCompressionMethod(method) => {
            Error::unsupported(format!("ken does not know the compression method {method}"))
        }
        SevenZipError::ChecksumVerificationFailed | SevenZipError::NextHeaderCrcMismatch => {
            Error::Malformed("a checksum is wrong".into())
        }
        SevenZipError::Other(message) => Error::malformed(message),
        SevenZipError::Unsupported(message) => Error::unsupported(message),
        error => Error::malformed(error),
    }
}

#[cfg(test)]
mod tests;
