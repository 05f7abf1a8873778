//! Encrypted messages that are indexed by what they say inside, if the user wants that (`index.decrypt` in notmuch-config(1)).
//!
//! Extraction asks for the content of each encrypted message that it reads. What came of it is told by properties of the
//! message, which the log has at once: `index.decryption`, and with [`Policy::Stash`] the session keys, which open the
//! message without the secret key from then on (notmuch-properties(7)).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ken_mail::{TagChange, TreePart};
use ken_pipeline::{OpenMessage, Opened, tags};

use super::content::note_content;
use super::crypto::{Decrypt, Gnupg, Verdicts};
use super::journal::{Journal, SESSION_KEY, properties_line};
use super::{Error, detect};

/// The property that says whether the content of a message could be indexed.
const DECRYPTION: &str = "index.decryption";
/// Properties that say how a message is indexed begin like this.
const OF_INDEX: &str = "index.";
/// The property that names what was mended in a message before it was indexed.
const REPAIRED: (&str, &str) = ("index.repaired", "skip-protected-headers-legacy-display");

/// Which encrypted messages are indexed by their content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// None.
    Never,
    /// Those with a session key in the log.
    Auto,
    /// All that can be decrypted; their session keys are not kept.
    NoStash,
    /// All that can be decrypted; their session keys are kept.
    Stash,
}

impl Policy {
    /// Reads a value of `index.decrypt`; an unknown one means that of notmuch's default.
    pub fn read(text: &str) -> Self {
        match text {
            "false" => Self::Never,
            "true" => Self::Stash,
            "nostash" => Self::NoStash,
            _ => Self::Auto,
        }
    }
}

/// What came of a message.
#[derive(Debug, Default)]
struct Outcome {
    /// Whether some part was opened, and whether some part could not be.
    is_open: bool,
    is_closed: bool,
    session_keys: BTreeSet<String>,
    is_repaired: bool,
    /// What the content gives: `signed`, `attachment`.
    tags: BTreeSet<&'static str>,
    /// The properties that this run has written.
    told: Option<Vec<(String, String)>>,
}

/// Opens messages while they are indexed.
#[derive(Debug)]
pub(super) struct Secrets {
    policy: Policy,
    decrypt: Decrypt,
    /// Where the log is.
    data: PathBuf,
    /// The log before the run; it is read when the first encrypted message comes.
    journal: OnceLock<Journal>,
    outcomes: Mutex<BTreeMap<String, Outcome>>,
    /// Why the log could not be written.
    failed: OnceLock<String>,
}

impl Secrets {
    pub(super) fn new(policy: Policy, decrypt: Decrypt, data: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            policy,
            decrypt,
            data,
            journal: OnceLock::new(),
            outcomes: Mutex::default(),
            failed: OnceLock::new(),
        })
    }

    fn journal(&self) -> Result<&Journal, Error> {
        if let Some(journal) = self.journal.get() {
            return Ok(journal);
        }
        let journal = Journal::read(&self.data)?;
        Ok(self.journal.get_or_init(|| journal))
    }

    fn session_keys(&self, id: &str) -> Vec<String> {
        self.journal()
            .map(|journal| journal.session_keys(id))
            .unwrap_or_default()
    }

    /// Writes what came of a message into the log, unless that is known: a crash loses nothing of it.
    fn tell(&self, id: &str, outcome: &mut Outcome) -> Result<(), Error> {
        let before = self.journal()?.properties(id);
        let after = self.properties(before, Some(outcome));
        if after != *outcome.told.as_deref().unwrap_or(before) {
            tags::append_lines(&self.data, properties_line(id, &after))?;
            outcome.told = Some(after);
        }
        Ok(())
    }

    /// Returns what the log has to say about messages that were read again and not opened, and the tags that messages get by
    /// their content.
    ///
    /// # Errors
    /// Fails if the log could not be read or written, now or during the run.
    pub(super) fn told(&self, again: &BTreeSet<&str>) -> Result<(String, Vec<TagChange>), Error> {
        if let Some(error) = self.failed.get() {
            return Err(Error::said(error.clone()));
        }
        let outcomes = self.outcomes.lock();
        let outcomes = outcomes.unwrap_or_else(PoisonError::into_inner);
        let (mut lines, mut changes) = (String::new(), Vec::new());
        for id in again.iter().filter(|id| !outcomes.contains_key(**id)) {
            let before = self.journal()?.properties(id);
            let after = self.properties(before, None);
            if after != before {
                lines.push_str(&properties_line(id, &after));
            }
        }
        for (id, outcome) in &*outcomes {
            let tags = outcome.tags.iter();
            let tags: Vec<_> = tags.map(|tag| ((*tag).to_owned(), true)).collect();
            if !tags.is_empty() {
                changes.push(TagChange::of_message(id.clone(), tags));
            }
        }
        Ok((lines, changes))
    }

    /// Returns the properties of a message after it was read, sorted.
    fn properties(
        &self,
        before: &[(String, String)],
        outcome: Option<&Outcome>,
    ) -> Vec<(String, String)> {
        let is_kept = |(key, _): &&(String, String)| {
            !key.starts_with(OF_INDEX) && (self.policy != Policy::Never || key != SESSION_KEY)
        };
        let mut after: Vec<_> = before.iter().filter(is_kept).cloned().collect();
        let mut add = |key: &str, value: &str| after.push((key.to_owned(), value.to_owned()));
        if let Some(outcome) = outcome {
            for (is_so, what) in [(outcome.is_open, "success"), (outcome.is_closed, "failure")] {
                if is_so {
                    add(DECRYPTION, what);
                }
            }
            if outcome.is_repaired {
                add(REPAIRED.0, REPAIRED.1);
            }
            if self.policy == Policy::Stash {
                outcome
                    .session_keys
                    .iter()
                    .for_each(|key| add(SESSION_KEY, key));
            }
        }
        after.sort();
        after.dedup();
        after
    }
}

impl OpenMessage for Secrets {
    fn open(&self, id: &str, message: &[u8]) -> Opened {
        let tree = TreePart::read(message, &detect);
        let gnupg = Gnupg {
            decrypt: Some(self.decrypt).filter(|_| self.policy != Policy::Never),
            uses_secret_keys: matches!(self.policy, Policy::NoStash | Policy::Stash),
            ..Gnupg::NOTHING
        };
        let verdicts = Verdicts::of(&tree, gnupg, &|| self.session_keys(id));
        let (n_opened, n_closed) = verdicts.counts();
        if n_opened + n_closed == 0 {
            return Opened::default();
        }
        let mut outcome = Outcome {
            is_open: n_opened > 0,
            is_closed: n_closed > 0,
            ..Outcome::default()
        };
        if verdicts.finds_signatures() {
            outcome.tags.insert("signed");
        }
        let mut contents = Vec::new();
        for content in verdicts.contents() {
            let inside = TreePart::read(content, &detect);
            note_content(&inside, &mut outcome.tags);
            let shown = verdicts.without_legacy_display(&inside);
            outcome.is_repaired |= shown.whole.len() < inside.whole.len();
            contents.push(shown.whole.to_vec());
        }
        let subject = verdicts.envelope(&tree).subject;
        outcome.session_keys = verdicts.session_keys.into_iter().collect();
        let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = outcomes.entry(id.to_owned()).or_default();
        // A message may have several files.
        known.is_open |= outcome.is_open;
        known.is_closed |= outcome.is_closed;
        known.is_repaired |= outcome.is_repaired;
        known.session_keys.append(&mut outcome.session_keys);
        known.tags.append(&mut outcome.tags);
        if let Err(error) = self.tell(id, known) {
            self.failed.get_or_init(|| error.to_string());
        }
        Opened {
            contents,
            subject,
            is_whole: n_closed == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::crypto::Cipher;
    use super::*;

    const MESSAGE: &[u8] =
        b"Message-ID: <1@x>\nSubject: ...\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n\
        Content-Type: application/pgp-encrypted\n\nVersion: 1\n--b\n\ncipher\n--b--\n";
    const INSIDE: &[u8] = b"Subject: Inside\nContent-Type: multipart/mixed; protected-headers=v1; boundary=c\n\n--c\n\
        Content-Type: text/plain; protected-headers=v1\n\nSubject: Inside\n--c\n\nthe secret\n--c--\n";

    fn gnupg(cipher: &Cipher<'_>) -> (Option<Vec<u8>>, String) {
        let is_readable = cipher.uses_secret_keys || cipher.session_keys == ["9:AA"];
        let lines = "[GNUPG:] SESSION_KEY 9:AA\n[GNUPG:] GOODSIG 0 Ann\n";
        (is_readable.then(|| INSIDE.to_vec()), lines.to_owned())
    }

    /// Opens the message; returns what was opened, the lines that the log got, and the number of messages with new tags.
    fn told(policy: Policy, log: &str) -> (Opened, String, usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = tags::path(folder.path());
        fs_err::write(&path, log).unwrap();
        let secrets = Secrets::new(policy, gnupg, folder.path().to_path_buf());
        let opened = secrets.open("1@x", MESSAGE);
        let written = fs_err::read_to_string(&path).unwrap();
        // The same again is no news.
        secrets.open("1@x", MESSAGE);
        assert_eq!(fs_err::read_to_string(&path).unwrap(), written);
        let (lines, changes) = secrets.told(&BTreeSet::from(["1@x"])).unwrap();
        (
            opened,
            written[log.len()..].to_owned() + &lines,
            changes.len(),
        )
    }

    #[test]
    fn content_is_opened_as_the_policy_says() {
        let (opened, lines, n_tagged) = told(Policy::Stash, "");
        assert_eq!(opened.subject.as_deref(), Some("Inside"));
        // Without the copy of the header for other programs.
        assert_eq!(opened.contents, [b"\nthe secret".to_vec()]);
        assert_eq!(
            lines,
            "#= 1@x index.decryption=success \
            index.repaired=skip-protected-headers-legacy-display session-key=9%3aAA\n"
        );
        assert_eq!(n_tagged, 1);
        let (opened, lines, _) = told(Policy::NoStash, "#= 1@x k=v\n");
        assert!(lines.ends_with("legacy-display k=v\n"), "{lines}");
        assert_eq!(opened.contents.len(), 1);
        for (policy, log) in [(Policy::Auto, ""), (Policy::Never, "#= 1@x k=v\n")] {
            assert_eq!(told(policy, log), (Opened::default(), String::new(), 0));
        }
    }

    #[test]
    fn session_keys_open_and_are_forgotten() {
        let log = "#= 1@x session-key=9%3aAA\n";
        let (opened, lines, _) = told(Policy::Auto, log);
        assert_eq!(opened.contents.len(), 1);
        assert!(lines.contains("success") && lines.contains("session-key=9%3aAA"));
        let (opened, lines, _) = told(Policy::Auto, "#= 1@x session-key=9%3aBB\n");
        assert_eq!(opened.contents.len(), 0);
        assert!(lines.contains("failure"), "{lines}");
        let log = "#= 1@x index.decryption=success session-key=9%3aAA\n";
        assert_eq!(told(Policy::Never, log).1, "#= 1@x\n");
    }
}
