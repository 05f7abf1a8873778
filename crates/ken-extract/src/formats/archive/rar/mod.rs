//! RAR archives of all versions (1.3 to 7), with the crate `rars`.
//!
//! The crate decodes one member after another into a writer, and limits everything that it
//! allocates. An archive is held whole. Each volume of a split archive is read separately, so
//! members that continue in another volume are found by name.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::UNIX_EPOCH;

use jiff::civil;
use jiff::tz::TimeZone;
use ken_core::{Field, Setting};
use rars::{
    Archive, ArchiveFamily, ArchiveMember, ArchiveReadOptions, ArchiveReader, Error as RarError,
    ErrorKind, ExtractionDecision, ExtractionErrorAction,
};

use crate::output::Output;
use crate::output::members::{Budget, MemberNames, hand_on};
use crate::{Error, Format, Input, Limits};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("RAR", &["application/vnd.rar"], extract)
    .fields(&[Field::Description])
    .members("members, by their path")
    .in_worker()
    .version(2);

/// Memory of the decoder, besides the archive; RAR's own default is 32 MiB, and few archives use
/// more than 128.
const MAX_WORKSPACE_BYTES: u64 = 320 << 20;
const MAX_DICTIONARY_BYTES: u64 = 256 << 20;
const MAX_COMMENT_BYTES: u64 = 64 << 10;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let size = input.size();
    let bytes = input.take_bytes(output.limits())?;
    let (archive, password) = open(&bytes, output.limits())?;
    drop(bytes);
    let password = password.or_else(|| password_of_content(&archive, output.limits()));
    let options = ArchiveReadOptions::with_optional_password(password.map(str::as_bytes))
        .with_max_reader_workspace_bytes(MAX_WORKSPACE_BYTES)
        .with_rar50_dictionary_size_limit(MAX_DICTIONARY_BYTES);
    let comment = options.with_max_member_output_bytes(MAX_COMMENT_BYTES);
    if let Ok(Some(comment)) = archive.comment_with_options(comment) {
        let comment = crate::text::decode(&comment, None);
        output.own().add_text(Field::Description, comment.trim());
    }
    let budget = Budget::new(size, output.limits());
    let options = options.with_max_total_output_bytes(budget.rest());
    Walk::new(&archive, password.is_some(), budget, output).run(options)
}

/// Reads the list of members. If the list is encrypted, also returns the password.
fn open<'a>(bytes: &[u8], limits: &'a Limits) -> Result<(Archive, Option<&'a str>), Error> {
    let read = |password: Option<&str>| {
        let options = ArchiveReadOptions::with_optional_password(password.map(str::as_bytes))
            .with_max_header_count(limits.max_members.saturating_mul(2))
            .with_max_header_bytes(limits.max_file_bytes);
        ArchiveReader::read_with_options(bytes, options)
    };
    match read(None) {
        Ok(archive) => return Ok((archive, None)),
        Err(error) if is_about_password(&error) => {}
        Err(error) => return Err(in_words(&error, limits)),
    }
    let mut passwords = limits.passwords.iter();
    let found = passwords.find_map(|password| Some((read(Some(password)).ok()?, Some(password))));
    found.ok_or_else(|| Error::encrypted(&limits.passwords))
}

/// Returns the password that opens the smallest encrypted member.
fn password_of_content<'a>(archive: &Archive, limits: &'a Limits) -> Option<&'a str> {
    let members = archive.members().enumerate();
    let encrypted = members.filter(|(_, member)| {
        member.meta.is_encrypted && member.meta.unpacked_size > 0 && !is_split(member)
    });
    let (smallest, _) = encrypted.min_by_key(|(_, member)| member.meta.unpacked_size)?;
    limits.passwords.iter().find(|password| {
        let options = ArchiveReadOptions::with_password(password.as_bytes())
            .with_max_reader_workspace_bytes(MAX_WORKSPACE_BYTES)
            .with_rar50_dictionary_size_limit(MAX_DICTIONARY_BYTES)
            .with_max_member_output_bytes(limits.max_member_bytes);
        let content = archive.read_member_at_with_options(smallest, options);
        matches!(content, Ok(Some(_)))
    })
}

fn is_split(member: &ArchiveMember) -> bool {
    member.meta.is_split_before || member.meta.is_split_after
}

/// One pass over the members.
struct Walk<'a, 'o, 's> {
    archive: &'a Archive,
    has_password: bool,
    budget: Budget,
    names: MemberNames,
    output: &'o mut Output<'s>,
    /// The current member.
    open: Option<Opened>,
    n_seen: usize,
    /// The error that ended the archive, while it passes through the crate.
    fatal: Option<Error>,
}

/// A member whose content is being decoded.
struct Opened {
    member: ArchiveMember,
    content: Sink,
    failure: Option<Error>,
}

impl<'a, 'o, 's> Walk<'a, 'o, 's> {
    fn new(
        archive: &'a Archive,
        has_password: bool,
        budget: Budget,
        output: &'o mut Output<'s>,
    ) -> Self {
        let mut names = MemberNames::default();
        for member in archive.members() {
            names.note(member.meta.name_bytes());
        }
        Self {
            archive,
            has_password,
            budget,
            names,
            output,
            open: None,
            n_seen: 0,
            fatal: None,
        }
    }

    fn run(self, options: ArchiveReadOptions<'_>) -> Result<(), Error> {
        let archive = self.archive;
        let walk = RefCell::new(self);
        let result = archive.extract_with_control_and_errors(
            options,
            |member| Ok(walk.borrow_mut().decide(member)),
            |_, error| {
                let mut walk = walk.borrow_mut();
                let failure = in_words(error, walk.output.limits());
                if let Some(open) = &mut walk.open {
                    open.failure = open.failure.take().or(Some(failure));
                }
                Ok(ExtractionErrorAction::Continue)
            },
        );
        let mut walk = walk.into_inner();
        if let Some(fatal) = walk.fatal.take() {
            return Err(fatal);
        }
        let failure = result.err();
        if let (Some(open), Some(error)) = (&mut walk.open, &failure) {
            let failure = in_words(error, walk.output.limits());
            open.failure = open.failure.take().or(Some(failure));
        }
        walk.close()?;
        match failure {
            Some(failure) => walk.give_up(&failure),
            None => Ok(()),
        }
    }

    /// Begins a member, after the previous one is read.
    fn decide(&mut self, member: &ArchiveMember) -> ExtractionDecision {
        if let Err(fatal) = self.close() {
            self.fatal = Some(fatal);
            return ExtractionDecision::Stop;
        }
        self.n_seen += 1;
        if member.meta.is_directory || member.meta.is_redirection {
            return ExtractionDecision::Skip;
        }
        let failure = self.obstacle(member);
        let is_wanted = failure.is_none();
        let content = Sink::new(is_wanted);
        self.open = Some(Opened {
            member: member.clone(),
            content: content.clone(),
            failure,
        });
        // Later members of a solid archive need it.
        if is_wanted || self.archive.is_solid() {
            ExtractionDecision::Extract(Box::new(content))
        } else {
            ExtractionDecision::Skip
        }
    }

    fn obstacle(&self, member: &ArchiveMember) -> Option<Error> {
        if is_split(member) {
            let elsewhere = "a part of it is in another file of the archive";
            return Some(Error::Malformed(elsewhere.into()));
        }
        if member.meta.is_encrypted && !self.has_password {
            return Some(Error::encrypted(&self.output.limits().passwords));
        }
        self.budget.check_size(member.meta.unpacked_size).err()
    }

    /// Hands on the current member.
    fn close(&mut self) -> Result<(), Error> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let content = match open.failure {
            Some(failure) => Err(failure),
            None => Ok(open.content.into_bytes()),
        };
        self.budget
            .spend(content.as_ref().map_or(0, |bytes| bytes.len() as u64));
        self.hand_on(&open.member, content)?;
        self.budget.check()
    }

    fn hand_on(
        &mut self,
        member: &ArchiveMember,
        content: Result<Vec<u8>, Error>,
    ) -> Result<(), Error> {
        let path = path_of(member, &mut self.names);
        hand_on(
            &path,
            modified(member),
            content,
            &mut self.names,
            self.output,
        )
    }

    /// Hands on the names of members that were not reached.
    fn give_up(&mut self, error: &RarError) -> Result<(), Error> {
        for member in self.archive.members().skip(self.n_seen) {
            if !member.meta.is_directory && !member.meta.is_redirection {
                let failure = match self.obstacle(&member) {
                    Some(obstacle) => obstacle,
                    None => in_words(error, self.output.limits()),
                };
                self.hand_on(&member, Err(failure))?;
            }
        }
        Ok(())
    }
}

/// Receives the content of a member.
#[derive(Clone)]
struct Sink {
    bytes: Rc<RefCell<Vec<u8>>>,
    is_wanted: bool,
}

impl Sink {
    fn new(is_wanted: bool) -> Self {
        Self {
            bytes: Rc::default(),
            is_wanted,
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        self.bytes.take()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_wanted {
            self.bytes.borrow_mut().extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the path with slashes; versions before 5 wrote backslashes.
fn path_of(member: &ArchiveMember, names: &mut MemberNames) -> String {
    let path = names.path(member.meta.name_bytes());
    match member.meta.family {
        ArchiveFamily::Rar50Plus => path,
        _ => path.replace('\\', "/"),
    }
}

/// Returns the time of last change. Old archives hold local time in an unknown zone, which is taken
/// as UTC.
fn modified(member: &ArchiveMember) -> Option<i64> {
    let raw = member.meta.file_time?;
    if member.meta.family == ArchiveFamily::Rar50Plus {
        let since = member.meta.modification_time()?.duration_since(UNIX_EPOCH);
        return i64::try_from(since.ok()?.as_secs()).ok();
    }
    let bits = |at: u32, n: u32| (raw >> at & ((1 << n) - 1)) as i8;
    let civil = civil::DateTime::new(
        1980 + i16::from(bits(25, 7)),
        bits(21, 4),
        bits(16, 5),
        bits(11, 5),
        bits(5, 6),
        2 * bits(0, 5),
        0,
    );
    let zoned = civil.ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second())
}

fn is_about_password(error: &RarError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PasswordRequired | ErrorKind::BadPassword
    )
}

fn in_words(error: &RarError, limits: &Limits) -> Error {
    let cause = error.root_cause();
    match error.kind() {
        ErrorKind::PasswordRequired | ErrorKind::BadPassword => Error::encrypted(&limits.passwords),
        ErrorKind::ResourceLimit => match cause {
            RarError::TotalOutputLimitExceeded { .. } => limits.reached(Setting::MaxExpansion),
            cause => Error::built_in(format!("decompressing it needs too much memory: {cause}")),
        },
        _ => Error::Malformed(cause.to_string()),
    }
}

#[cfg(test)]
mod tests;
