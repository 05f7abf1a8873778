//! ar archives, including Debian packages.
//!
//! Source: ar(5) of GNU and BSD, deb(5). A package holds two archives: the installed files and the
//! description. Its metadata come from the file `control` in the latter.

use ken_core::{Document, Field, Setting};

use crate::output::Output;
use crate::output::members::{MemberNames, hand_on, over};
use crate::{Error, Format, Input, Limits, extract_all};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "ar",
    &["application/x-archive", "application/x-ar"],
    extract,
)
.members("members, by their name")
.version(2)
.streams();

/// See [`crate::FORMATS`].
pub(in crate::formats) const DEB_FORMAT: Format = Format::new(
    "package of Debian",
    &["application/vnd.debian.binary-package"],
    extract,
)
.fields(&[Field::Title, Field::Author, Field::Description])
.members("members, by their name")
// The archive with the description is unpacked and read in place.
.in_worker()
.streams();

const MAGIC_BYTES: u64 = 8;
const HEADER_BYTES: usize = 60;
/// Maximum size of the table of long names.
const MAX_TABLE_BYTES: u64 = 16 << 20;
/// Maximum length of a path that anything can open; many members may share one name in the table.
const MAX_NAME_BYTES: usize = 4096;
/// Maximum size of a package's description, which has a few dozen KiB with the checksums of all
/// files.
const MAX_CONTROL_BYTES: u64 = 4 << 20;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let input = &*input;
    let is_thin = input
        .range(0, MAGIC_BYTES as usize)?
        .starts_with(b"!<thin>");
    let mut archive = Archive {
        input,
        is_thin,
        table: Vec::new(),
        names: MemberNames::default(),
    };
    let mut at = MAGIC_BYTES;
    while at < input.size() {
        let header = input.range(at, HEADER_BYTES)?;
        let header = Header::read(&header)
            .ok_or_else(|| Error::Malformed("a member has no header".into()))?;
        at += HEADER_BYTES as u64;
        let stored = archive.member(&header, at, output)?;
        at = at.saturating_add(stored).next_multiple_of(2);
    }
    Ok(())
}

struct Header {
    name: [u8; 16],
    modified: Option<i64>,
    size: u64,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.try_into().ok()?;
        if &bytes[58..] != b"`\n" {
            return None;
        }
        Some(Self {
            name: *bytes.first_chunk()?,
            modified: number(&bytes[16..28]).and_then(|time| i64::try_from(time).ok()),
            size: number(&bytes[48..58])?,
        })
    }
}

fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.trim_ascii().parse().ok()
}

struct Archive<'a> {
    input: &'a Input<'a>,
    /// Whether the members are files outside the archive.
    is_thin: bool,
    /// Names that are too long for a header, as GNU keeps them.
    table: Vec<u8>,
    names: MemberNames,
}

impl Archive<'_> {
    /// Hands on a member; returns the number of bytes of its content in this archive.
    fn member(&mut self, header: &Header, at: u64, output: &mut Output<'_>) -> Result<u64, Error> {
        let name = header.name.trim_ascii_end();
        match name {
            // The symbol table.
            b"/" | b"/SYM64/" | b"__.SYMDEF" | b"__.SYMDEF SORTED" => return Ok(header.size),
            b"//" => {
                let size = header.size.min(MAX_TABLE_BYTES) as usize;
                self.table = self.input.range(at, size)?.into_owned();
                return Ok(header.size);
            }
            _ => {}
        }
        // BSD puts a long name before the content.
        let inline = name.strip_prefix(b"#1/").and_then(number);
        let (name, n_before) = match inline {
            Some(n_bytes) if n_bytes <= header.size.min(MAX_TABLE_BYTES) => {
                let name = self.input.range(at, n_bytes as usize)?;
                let name = &name[..name.len().min(MAX_NAME_BYTES)];
                let end = memchr::memchr(0, name).unwrap_or(name.len());
                (self.names.path(&name[..end]), n_bytes)
            }
            _ => (self.name(name), 0),
        };
        let content = self.content(&name, at + n_before, header.size - n_before, output);
        hand_on(&name, header.modified, content, &mut self.names, output)?;
        Ok(if self.is_thin { 0 } else { header.size })
    }

    fn name(&mut self, name: &[u8]) -> String {
        let in_table = name.strip_prefix(b"/").and_then(number).and_then(|at| {
            let name = self.table.get(usize::try_from(at).ok()?..)?;
            let name = &name[..name.len().min(MAX_NAME_BYTES)];
            let end = memchr::memchr(b'\n', name).unwrap_or(name.len());
            Some(&name[..end])
        });
        let name = in_table.unwrap_or(name);
        self.names.path(name.strip_suffix(b"/").unwrap_or(name))
    }

    fn content(
        &self,
        name: &str,
        at: u64,
        size: u64,
        output: &mut Output<'_>,
    ) -> Result<Vec<u8>, Error> {
        if self.is_thin {
            let elsewhere = "the archive names it, its content is elsewhere";
            return Err(Error::Malformed(elsewhere.into()));
        }
        let limit = output.limits().limit(Setting::MaxMemberBytes);
        if size > limit.in_force {
            return Err(over(limit));
        }
        output.make_room(size);
        let bytes = self.input.range(at, size as usize)?.into_owned();
        if (bytes.len() as u64) < size {
            let ends_early = "the archive ends inside a member";
            return Err(Error::Malformed(ends_early.into()));
        }
        let is_package = output.detected().media_type == DEB_FORMAT.media_types[0];
        if is_package
            && name.starts_with("control.tar")
            && size <= MAX_CONTROL_BYTES
            && output.own().body.is_empty()
        {
            describe(name, &bytes, output);
        }
        Ok(bytes)
    }
}

/// Adds the metadata in the description of a package.
fn describe(name: &str, bytes: &[u8], output: &mut Output<'_>) {
    let limits = Limits {
        max_member_bytes: MAX_CONTROL_BYTES,
        max_depth: 1,
        ..output.limits().clone()
    };
    let mut control = None;
    extract_all(
        &mut Input::bytes_of(name, bytes),
        &limits,
        &mut |document| {
            if document.ipath.as_str() == "control" {
                control = Some(document);
            }
        },
    );
    if let Some(control) = control {
        fill(output.own(), &control.body);
    }
}

/// Reads a paragraph of fields (deb822(5)).
fn fill(own: &mut Document, control: &str) {
    let mut fields: Vec<(&str, String)> = Vec::new();
    for line in control.lines() {
        if let Some(more) = line.strip_prefix([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(if more == "." { "" } else { more });
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name, value.trim().to_owned()));
        }
    }
    let value = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| *name == wanted);
        found.map_or("", |(_, value)| value.as_str())
    };
    let title = format!("{} {}", value("Package"), value("Version"));
    own.add_text(Field::Title, title.trim());
    own.add_text(Field::Author, value("Maintainer"));
    own.add_text(Field::Description, value("Description"));
    own.body.push_str(control);
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{Extracted, run, run_limited, survives};

    const AR: Detected = Detected {
        media_type: "application/x-archive",
        kind: Kind::Archive,
    };
    const PACKAGE: Detected = Detected {
        media_type: "application/vnd.debian.binary-package",
        kind: Kind::Archive,
    };
    const GNU: &[u8] = include_bytes!("../../../tests/data/archive/gnu.a");
    const DEB: &[u8] = include_bytes!("../../../tests/data/archive/package.deb");

    fn names(found: &Extracted) -> Vec<&str> {
        found.members.iter().map(|m| m.ipath.as_str()).collect()
    }

    #[test]
    fn members_are_read_by_short_and_long_names() {
        let found = run(extract, AR, "a.a", GNU);
        assert!(found.own().failure.is_none(), "{:?}", found.own());
        let long = "a-name-that-is-longer-than-a-header.txt";
        assert_eq!(names(&found), ["short.txt", long]);
        assert!(found.members[0].bytes.starts_with(b"The aralbatross"));
        assert!(found.members[1].bytes.ends_with(b"long name.\n"));
    }

    #[test]
    fn a_long_name_that_members_share_is_cut() {
        let header = |name: &str, size: usize| {
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 7, 0, 0, 644)
        };
        let table = "n".repeat(100_000);
        let members = header("/0", 0).repeat(3);
        let text = format!("!<arch>\n{}{table}{members}", header("//", table.len()));
        let found = run(extract, AR, "a.a", text.as_bytes());
        assert_eq!(found.members.len(), 3);
        assert!(
            found
                .members
                .iter()
                .all(|member| member.name.len() <= MAX_NAME_BYTES)
        );
    }

    #[test]
    fn only_packages_describe_themselves() {
        let found = run(extract, AR, "a.a", DEB);
        assert_eq!(found.own().body, "");
    }

    #[test]
    fn names_of_bsd_stand_before_the_content() {
        let mut bytes = b"!<arch>\n".to_vec();
        bytes.extend(
            format!(
                "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
                "#1/20", 7, 0, 0, 644, 24
            )
            .bytes(),
        );
        bytes.extend(b"a name with blanks\0\0text");
        let found = run(extract, AR, "a.a", &bytes);
        assert_eq!(names(&found), ["a name with blanks"]);
        assert_eq!(found.members[0].bytes, b"text");
        assert_eq!(found.members[0].modified, Some(7));
    }

    #[test]
    fn thin_archives_name_their_members() {
        let mut bytes = b"!<thin>\n".to_vec();
        for name in ["one.txt/", "two.txt/"] {
            bytes.extend(
                format!(
                    "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
                    0, 0, 0, 644, 999
                )
                .bytes(),
            );
        }
        let found = run(extract, AR, "a.a", &bytes);
        let ipaths: Vec<_> = found.documents.iter().map(|d| d.ipath.as_str()).collect();
        assert_eq!(ipaths, ["one.txt", "two.txt", ""]);
    }

    #[test]
    fn packages_are_described() {
        let found = run(extract, PACKAGE, "a.deb", DEB);
        let own = found.own();
        assert!(own.failure.is_none(), "{own:?}");
        assert_eq!(own.text(Field::Title), Some("ken-sample 1.2-3"));
        assert_eq!(
            own.text(Field::Author),
            Some("Debby Dugong <debby@example.org>")
        );
        let description = "sample of a debdolphin A package for tests, with paragraphs. Of two.";
        assert_eq!(own.text(Field::Description), Some(description));
        let expected = ["debian-binary", "control.tar.xz", "data.tar.xz"];
        assert_eq!(names(&found), expected);
    }

    #[test]
    fn large_and_cut_off_members_are_named() {
        let limits = Limits {
            max_member_bytes: 33,
            ..Limits::default()
        };
        let found = run_limited(extract, AR, "a.a", GNU, &limits);
        assert_eq!(found.members.len(), 1);
        assert_eq!(found.documents[0].ipath.as_str(), "short.txt");
        let reason = |document: &Document| document.failure.as_ref().unwrap().reason();
        assert_eq!(reason(&found.documents[0]), Reason::Limit);
        let found = run(extract, AR, "a.a", &GNU[..GNU.len() - 5]);
        assert_eq!(names(&found), ["short.txt"]);
        assert_eq!(reason(&found.documents[0]), Reason::Malformed);
    }

    #[test]
    fn hostile_bytes_are_survived() {
        survives(extract, AR, "a.a", GNU);
        survives(extract, AR, "a.deb", DEB);
    }
}
