//! What settings must be, beyond their types.
//!
//! Every command checks all settings, so that a mistake shows at once and not only in the command that needs the value. The
//! check reads no file and starts no program; `ken config check` also does that.

use ken_core::FieldNames;
use ken_mail::Personal;
use ken_search::parse::{Names, parse_with};

use super::sources::Wrong;
use super::{Settings, parse_size};
use crate::failure::{Failure, Kind};
use crate::locale::writes_month_first;

impl Settings {
    /// Checks all settings.
    ///
    /// # Errors
    /// Fails with the first setting that ken cannot work with.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        size(&["memory"], &self.memory)?;
        size(&["queue_bytes"], &self.queue_bytes)?;
        size(&["commit_bytes"], &self.commit_bytes)?;
        size(&["helpers", "memory"], self.helpers.memory())?;
        size(&["ocr", "cache"], self.ocr.cache())?;
        of(&["commit_seconds"], self.commit_interval())?;
        of(&["extract", "file_seconds"], self.extract.limits())?;
        of(&["extract", "isolate"], self.extract.isolate())?;
        of(&["helpers", "seconds"], self.helpers.max_time())?;
        of(&["adapter"], self.custom_helpers())?;
        of(&["ocr", "languages"], self.ocr.checked_languages())?;
        of(&["analysis", "stem"], self.analysis.checked_languages())?;
        of(&["exclude"], self.excluded())?;
        of(&["engine"], self.engine.checked())?;
        of(&["access"], self.access.checked())?;
        of(&["folder"], self.folders())?;
        of(&["mail", "headers"], self.mail.custom_fields())?;
        of(&["mail", "addresses"], self.mail.own_addresses())?;
        self.ranking.checked()?;
        self.check_queries()
    }

    fn check_queries(&self) -> Result<(), Wrong> {
        let custom = self.mail.custom_fields().unwrap_or_default();
        let names = Names {
            saved: &self.queries,
            fields: &FieldNames::new(&custom),
            month_first: writes_month_first(),
            database: None,
            nested: 0,
        };
        for (name, query) in &self.queries {
            let parsed = parse_with(query, names).map_err(Failure::from);
            let key = ["queries", name.as_str()];
            of(&key, parsed.map_err(|failure| failure.at(&key.join("."))))?;
        }
        for hook in &self.hook {
            let parsed = parse_with(&hook.query, names).map_err(Failure::from);
            of(
                &["hook"],
                parsed.map_err(|failure| failure.at("hook.query")),
            )?;
            if hook.command.is_empty() {
                let message = "hook.command: the command is empty".to_owned();
                of::<()>(&["hook"], Err(Failure::new(Kind::Usage, message)))?;
            }
        }
        Ok(())
    }
}

impl super::MailSettings {
    /// Returns what recognises the user's own addresses.
    pub(super) fn own_addresses(&self) -> Result<Personal, Failure> {
        Personal::new(&self.addresses).map_err(|message| {
            Failure::new(Kind::Usage, format!("mail.addresses: {message}")).hint(
                "example: addresses = [\"anna@example.org\", \"/^anna\\\\+.*@example\\\\.org$/\"]",
            )
        })
    }
}

fn of<T>(key: &[&str], result: Result<T, Failure>) -> Result<(), Wrong> {
    match result {
        Ok(_) => Ok(()),
        Err(failure) => Err(Wrong {
            key: key.iter().map(|&part| part.to_owned()).collect(),
            failure,
        }),
    }
}

fn size(key: &[&str], text: &str) -> Result<(), Wrong> {
    of(
        key,
        parse_size(text).map_err(|failure| failure.at(&key.join("."))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Option<(String, String)> {
        let settings: Settings = toml::from_str(text).unwrap();
        let wrong = settings.check().err()?;
        Some((wrong.key.join("."), wrong.failure.message().to_owned()))
    }

    #[test]
    fn values_without_a_meaning_are_refused() {
        assert_eq!(wrong(""), None);
        for (text, key) in [
            ("memory = \"2 gigs\"", "memory"),
            ("queue_bytes = \"x\"", "queue_bytes"),
            ("commit_bytes = \"-1\"", "commit_bytes"),
            ("commit_seconds = -1.0", "commit_seconds"),
            ("[extract]\nfile_seconds = nan", "extract.file_seconds"),
            ("[extract]\nisolate = \"some\"", "extract.isolate"),
            ("[helpers]\nmemory = \"much\"", "helpers.memory"),
            ("[helpers]\nseconds = -2.0", "helpers.seconds"),
            ("[[adapter]]\ncommand = []", "adapter"),
            ("[ocr]\nlanguages = [\"klingon!\"]", "ocr.languages"),
            ("[ocr]\ncache = \"1 disk\"", "ocr.cache"),
            ("[analysis]\nstem = [\"xx\"]", "analysis.stem"),
            ("[ranking]\nk1 = -1.0", "ranking.k1"),
            ("[ranking.fields]\ncolour = 2.0", "ranking.fields"),
            ("[mail]\naddresses = [\"/(/\"]", "mail.addresses"),
            ("[mail]\nheaders = { author = \"X-A\" }", "mail.headers"),
            ("[[folder]]\npath = \"here\"\nfields = {}", "folder"),
            ("exclude = [\"videos\"]", "exclude"),
            ("[engine]\nkind = \"opensearch\"", "engine"),
            ("[queries]\nwork = \"(\"", "queries.work"),
            ("[queries]\nwork = \"query:work\"", "queries.work"),
            ("[[hook]]\nquery = \"(\"\ncommand = [\"x\"]", "hook"),
            ("[[hook]]\nquery = \"x\"\ncommand = []", "hook"),
        ] {
            let (at, message) = wrong(text).unwrap_or_else(|| panic!("{text} passes"));
            assert_eq!(at, key, "{message}");
            let first = key.split('.').next().unwrap();
            assert!(message.contains(first), "{message}");
        }
    }

    #[test]
    fn queries_may_ask_for_fields_of_the_settings() {
        let text =
            "[mail]\nheaders = { project = \"X-Project\" }\n[queries]\nmine = \"project:ken\"";
        assert_eq!(wrong(text), None);
    }
}
