//! Opens files that are encrypted, as far as that is possible (ISO 32000-2, 7.6).
//!
//! `hayro-syntax` decrypts all objects, given a user password that fits. What is added here: files
//! of which only the attachments are encrypted open without a password, and owner passwords open
//! files of revisions 2 to 4, since the owner entry holds the user password.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro_syntax::object::{Dict, FromBytes, Name, String as PdfString};
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf, PdfData};
use ken_core::Encryption;
use md5::{Digest, Md5};
use memchr::memmem;
use rc4::{KeyInit, Rc4, StreamCipher};
use unicode_normalization::UnicodeNormalization;

use crate::{Error, Passwords};

/// What passwords are padded with (7.6.4.3.2).
const PADDING: [u8; 32] = [
    0x28, 0xBF, 0x4E, 0x5E, 0x4E, 0x75, 0x8A, 0x41, 0x64, 0x00, 0x4E, 0x56, 0xFF, 0xFA, 0x01, 0x08,
    0x2E, 0x2E, 0x00, 0xB6, 0xD0, 0x68, 0x3E, 0x80, 0x2F, 0x0C, 0xA9, 0xFE, 0x64, 0x53, 0x69, 0x7A,
];

/// Trailers of one file beyond this number are not looked at.
const MAX_TRAILERS: usize = 100;

const PASSWORD_PROTECTED: LoadPdfError =
    LoadPdfError::Decryption(DecryptionError::PasswordProtected);

/// An open file.
pub(super) struct Opened {
    pub(super) pdf: Pdf,
    /// Whether its attachments remain encrypted.
    pub(super) is_sealed: bool,
}

/// Opens a file without a password, or with the first one that fits.
///
/// # Errors
/// Fails if the file has no page that can be found, or is encrypted and no password fits.
pub(super) fn open(bytes: Vec<u8>, passwords: &Passwords) -> Result<Opened, Error> {
    let bytes = PdfData::from(bytes);
    let mut opened = open_with(&bytes, "");
    for password in passwords.iter() {
        // Since revision 6 a password is that of SASLprep (RFC 4013), which is NFKC.
        let prepared: String = password.nfkc().collect();
        for password in [password, &prepared] {
            if matches!(opened, Err(PASSWORD_PROTECTED)) {
                opened = open_with(&bytes, password);
            }
        }
    }
    match opened {
        Ok(pdf) => Ok(Opened {
            pdf,
            is_sealed: false,
        }),
        Err(LoadPdfError::Decryption(error)) => open_encrypted(&bytes, error, passwords),
        Err(LoadPdfError::Invalid) => Err(Error::malformed("no page can be found")),
    }
}

/// Opens a file. A panic in the parser is damage in the table of objects.
fn open_with(bytes: &PdfData, password: &str) -> Result<Pdf, LoadPdfError> {
    let open = || Pdf::new_with_password(bytes.clone(), password);
    catch_unwind(AssertUnwindSafe(open)).unwrap_or(Err(LoadPdfError::Invalid))
}

fn open_encrypted(
    bytes: &PdfData,
    error: DecryptionError,
    passwords: &Passwords,
) -> Result<Opened, Error> {
    let failure = || match error {
        DecryptionError::PasswordProtected => Error::encrypted(passwords),
        DecryptionError::UnsupportedAlgorithm => Error::sealed(method(bytes.as_ref())),
        _ => Error::malformed("the encryption is damaged"),
    };
    let (bare, dict) = without_encryption(bytes.as_ref()).ok_or_else(failure)?;
    if has_plain_content(&dict) {
        let pdf = open_with(&bare.into(), "").map_err(|_| failure())?;
        let is_sealed = true;
        return Ok(Opened { pdf, is_sealed });
    }
    let users = passwords
        .iter()
        .filter_map(|owner| user_password(&dict, owner));
    let mut opened = users.filter_map(|user| open_with(bytes, &user).ok());
    let pdf = opened.next().ok_or_else(failure)?;
    let is_sealed = false;
    Ok(Opened { pdf, is_sealed })
}

/// Returns how a file is encrypted that no password opens.
fn method(bytes: &[u8]) -> Encryption {
    match memmem::find(bytes, b"/Adobe.PubSec") {
        Some(_) => Encryption::Key,
        None => Encryption::UnknownMethod,
    }
}

/// Returns a file whose trailers do not say that it is encrypted, and the dictionary that says how.
fn without_encryption(bytes: &[u8]) -> Option<(Vec<u8>, Dict<'_>)> {
    const KEY: &[u8] = b"/Encrypt";
    let mut bare = bytes.to_vec();
    let mut dict = None;
    for at in memmem::find_iter(bytes, KEY).take(MAX_TRAILERS) {
        let rest = bytes[at + KEY.len()..].trim_ascii_start();
        if let Some(found) = dict_at(bytes, rest) {
            dict = Some(found);
            // A key of the same length that means nothing.
            bare[at + KEY.len() - 1] = b'-';
        }
    }
    Some((bare, dict?))
}

/// Reads a dictionary, or the one that a reference (`12 0 R`) names.
fn dict_at<'a>(bytes: &'a [u8], value: &'a [u8]) -> Option<Dict<'a>> {
    if value.starts_with(b"<<") {
        return Dict::from_bytes(value);
    }
    let mut words = value[..value.len().min(32)].split(u8::is_ascii_whitespace);
    let mut number = || {
        words
            .next()
            .filter(|word| word.iter().all(u8::is_ascii_digit))
    };
    let (object, generation) = (number()?, number()?);
    if object.is_empty() || !words.next()?.starts_with(b"R") {
        return None;
    }
    let head = [object, b" ", generation, b" obj"].concat();
    // The last one is the current one.
    let mut at = bytes.len();
    loop {
        at = memmem::rfind(&bytes[..at], &head)?;
        let is_whole = at == 0 || !bytes[at - 1].is_ascii_digit();
        if is_whole {
            return Dict::from_bytes(bytes[at + head.len()..].trim_ascii_start());
        }
    }
}

/// Returns whether only attachments are encrypted: strings and all other streams are not.
fn has_plain_content(dict: &Dict<'_>) -> bool {
    let version = dict.get::<i32>(b"V").unwrap_or(0);
    let filter = dict.get::<Name<'_>>(b"Filter");
    filter.is_some_and(|filter| &*filter == b"Standard")
        && version >= 4
        && [b"StmF", b"StrF"].iter().all(|key| {
            let filter = dict.get::<Name<'_>>(key);
            filter.is_none_or(|filter| &*filter == b"Identity")
        })
}

/// Returns the user password that the owner entry holds (7.6.4.4.4, algorithm 7).
fn user_password(dict: &Dict<'_>, owner: &str) -> Option<String> {
    let revision = dict
        .get::<u8>(b"R")
        .filter(|revision| (2..=4).contains(revision))?;
    let n_bits = match dict.get::<u8>(b"V")? {
        1 => 40,
        2 => dict.get::<usize>(b"Length").unwrap_or(40),
        _ => 128,
    };
    let entry = dict.get::<PdfString<'_>>(b"O")?;
    let mut user: [u8; 32] = entry.get(..32)?.try_into().ok()?;
    // Latin letters have one byte each, as in the encoding of PDF (annex D).
    let letters: Option<Vec<u8>> = owner.chars().map(|char| u8::try_from(char).ok()).collect();
    let mut padded = letters.unwrap_or_else(|| owner.as_bytes().to_vec());
    padded.truncate(32);
    padded.extend_from_slice(&PADDING[..32 - padded.len()]);
    let mut hash = Md5::digest(&padded);
    let n_rounds = if revision > 2 { 50 } else { 0 };
    for _ in 0..n_rounds {
        hash = Md5::digest(hash);
    }
    let key = hash.get(..n_bits / 8)?;
    let n_rounds: u8 = if revision > 2 { 20 } else { 1 };
    for round in (0..n_rounds).rev() {
        let key: Vec<u8> = key.iter().map(|byte| byte ^ round).collect();
        Rc4::new_from_slice(&key).ok()?.apply_keystream(&mut user);
    }
    let length = (0..=32).find(|&length| PADDING.starts_with(&user[length..]))?;
    String::from_utf8(user[..length].to_vec()).ok()
}
