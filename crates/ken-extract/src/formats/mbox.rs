//! Mailboxes with many messages in one file (RFC 4155): each message is a member.
//!
//! The mailbox is read as a stream, one message in memory at a time. Members are numbered from 1.

use ken_mail::Mbox;

use crate::output::Output;
use crate::{Error, Format, Input, Isolation, Member};

/// See [`crate::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "mbox",
    media_types: &["application/mbox"],
    fields: &[],
    sections: None,
    members: Some("messages, numbered from 1"),
    isolation: Isolation::Process,
    version: 1,
    streams: true,
    extract,
};

/// Extracts a mailbox.
pub(crate) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let max = output.limits().max_member_bytes;
    let max_bytes = usize::try_from(max).unwrap_or(usize::MAX);
    let mut mbox = Mbox::new(input.reader()?, max_bytes);
    let mut number = 0_u64;
    let mut n_truncated = 0_u64;
    while let Some(message) = mbox.next_message()? {
        number += 1;
        n_truncated += u64::from(message.is_truncated);
        output.member(Member {
            is_attachment: false,
            ipath: output.child_ipath(&number.to_string()),
            name: String::new(),
            declared_type: Some("message/rfc822".into()),
            bytes: message.bytes.into_owned(),
            ..Member::default()
        })?;
    }
    if n_truncated > 0 {
        return Err(Error::Limit(format!(
            "{n_truncated} messages are searchable up to max_member_bytes = {max} only"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::Limits;
    use crate::detect::Detected;
    use crate::testing::{run, run_limited, survives};

    const MBOX: Detected = Detected {
        media_type: "application/mbox",
        kind: Kind::Archive,
    };

    const MAILBOX: &[u8] = include_bytes!("../../tests/data/mail/three.mbox");

    #[test]
    fn messages_are_numbered_members() {
        let found = run(extract, MBOX, "three.mbox", MAILBOX);
        let ipaths: Vec<_> = found
            .members
            .iter()
            .map(|member| member.ipath.as_str())
            .collect();
        assert_eq!(ipaths, ["1", "2", "3"]);
        for (member, word) in found.members.iter().zip(["tapir", "numbat", "dugong"]) {
            assert_eq!(member.declared_type.as_deref(), Some("message/rfc822"));
            let text = String::from_utf8_lossy(&member.bytes);
            assert!(text.starts_with("From: ") && text.contains(word), "{text}");
        }
        let second = String::from_utf8_lossy(&found.members[1].bytes);
        assert!(second.contains("\nFrom the numbat"), "{second}");
        assert_eq!(found.own().failure, None);
    }

    #[test]
    fn large_messages_are_cut_and_told() {
        let limits = Limits {
            max_member_bytes: 100,
            ..Limits::default()
        };
        let found = run_limited(extract, MBOX, "three.mbox", MAILBOX, &limits);
        assert_eq!(found.members.len(), 3);
        assert!(found.members.iter().all(|member| member.bytes.len() <= 100));
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason, Reason::Limit);
    }

    #[test]
    fn hostile_mailboxes_are_survived() {
        survives(extract, MBOX, "three.mbox", MAILBOX);
    }
}
