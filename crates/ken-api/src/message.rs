//! What is asked and answered. Each type is an object of JSON; unknown keys of a question are refused.

use base64ct::{Base64, Encoding};
use ken_core::{BytesPath, Root};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// `GET /api/v1/status` → how fresh the index is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Freshness {
    /// Number of folders that are watched.
    pub watched: usize,
    /// Number of folders and roots that are not watched, but looked at now and then.
    pub swept: usize,
    /// Some of the paths that are not watched.
    pub unwatched: Vec<BytesPath>,
    /// What is watched, and what is not, how often that is looked at and why, for people.
    #[serde(default)]
    pub coverage: String,
    /// Seconds since the last look at everything that is not watched began; none before one has ended, or if everything
    /// is watched.
    #[serde(default)]
    pub swept_seconds_ago: Option<f64>,
    /// Seconds until the next look; negative if it should have ended. None if everything is watched.
    #[serde(default)]
    pub sweep_in_seconds: Option<f64>,
    /// Seconds since the time up to which all changes below watched folders are in the index; none before the first
    /// comparison has ended.
    pub complete_seconds_ago: Option<f64>,
    /// Number of changed paths that are not in the index yet.
    pub pending: usize,
    /// Why changes wait, such as a pause or an error.
    pub waits: Option<String>,
    /// Number of times that events were lost, after which everything was compared.
    pub overflows: u64,
    /// The run over all files that goes on now, if there is one.
    pub run: Option<Figures>,
}

/// How late a look at what is not watched may be, in seconds: it takes a while, and other changes may come first.
const LATE: f64 = 60.0;

impl Freshness {
    /// Returns when what is not watched was looked at, and when it will be, for people; none if everything is watched.
    pub fn sweep(&self) -> Option<String> {
        let next = match self.sweep_in_seconds? {
            seconds if seconds < -LATE => format!("overdue by {:.0} s", -seconds),
            seconds if seconds < 1.0 => "looking now".to_owned(),
            seconds => format!("next look in {seconds:.0} s"),
        };
        Some(match self.swept_seconds_ago {
            Some(seconds) => format!("last looked at {seconds:.0} s ago, {next}"),
            None => next,
        })
    }
}

/// `POST /api/v1/fresh`: wait until every change made before this question is in the index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fresh {
    /// How long to wait, in seconds.
    pub seconds: f64,
    /// Whether tags changed, too.
    pub tags: bool,
    /// Files and folders to look at, even if nothing seems to have changed.
    pub paths: Vec<BytesPath>,
}

/// The answer to [`Fresh`], once it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IsFresh {
    /// The seconds that it took.
    pub seconds: f64,
}

/// `POST /api/v1/vouch`: are these paths in the index as they are now?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vouch {
    /// Absolute paths without symbolic links.
    pub paths: Vec<BytesPath>,
    /// The global ignore file of git by which the search goes.
    #[serde(default)]
    pub global_ignore: Option<BytesPath>,
}

/// The answer to [`Vouch`]. It holds for every commit that is opened after the answer came and names no run that is under
/// way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Vouched {
    /// Whether the index has all files below the paths as they are, those at and below `except` apart.
    pub is_vouched: bool,
    /// Paths that may be otherwise: changes that are not in the index yet, files that are open for writing, and what
    /// is left out of the index by rules of its own.
    pub except: Vec<BytesPath>,
    /// Why it is not vouched for.
    pub why: Option<String>,
}

/// `POST /api/v1/index`: compare everything, as `ken index` does. The answer is a stream of [`Event`]s, one a line; the
/// run stops when the client goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IndexWish {
    /// Roots to add: each an absolute path, or an object with the path and how it is walked.
    #[serde(deserialize_with = "added")]
    pub add: Vec<Root>,
    /// Roots to forget.
    pub forget: Vec<BytesPath>,
    /// Read every file again.
    pub full: bool,
    /// Look only into folders whose times changed.
    pub lazy: bool,
    /// Read files again that failed.
    pub retry_failed: bool,
}

fn added<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Root>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a root is a path, or an object with a path")]
    enum Added {
        Path(BytesPath),
        Root(Root),
    }
    let added = Vec::<Added>::deserialize(deserializer)?.into_iter();
    let roots = added.map(|added| match added {
        Added::Path(BytesPath(path)) => Root::new(path),
        Added::Root(root) => root,
    });
    Ok(roots.collect())
}

/// The answer to `POST /api/v1/web`: where a browser finds ken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WebAddress {
    /// The address, with the token that lets its user in.
    pub address: String,
}

/// The figures of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // they are those of `ken_pipeline::Progress`
pub struct Figures {
    pub waiting: bool,
    pub walked: bool,
    pub paused: bool,
    pub files_found: u64,
    pub files_to_do: u64,
    pub bytes_to_do: u64,
    pub files_done: u64,
    pub bytes_done: u64,
    pub documents: u64,
    pub failures: u64,
    pub current: Option<BytesPath>,
}

/// What happens in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The figures so far.
    Progress(Figures),
    /// The run is over; `summary` has its figures, as `ken index --json` prints them.
    Summary {
        /// The figures.
        summary: serde_json::Value,
        /// Messages for people.
        messages: Vec<String>,
    },
    /// The run failed.
    Failed {
        /// Why, for people.
        message: String,
    },
}

/// Returns the bytes of a text as `ken grep --json` writes it: `{"text": …}`, or `{"bytes": …}` in Base64 if it is not UTF-8.
/// None if it is neither.
#[must_use]
pub fn bytes_of(text: &Value) -> Option<Vec<u8>> {
    match text["text"].as_str() {
        Some(text) => Some(text.as_bytes().to_vec()),
        None => Base64::decode_vec(text["bytes"].as_str()?).ok(),
    }
}

/// The body of an answer that is an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// What happened, for people.
    pub error: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_bytes_in_either_form() {
        use serde_json::json;
        assert_eq!(bytes_of(&json!({ "text": "ä" })).unwrap(), "ä".as_bytes());
        assert_eq!(bytes_of(&json!({ "bytes": "YeQ=" })).unwrap(), b"a\xe4");
        assert_eq!(bytes_of(&json!({ "bytes": "?" })), None);
        assert_eq!(bytes_of(&Value::Null), None);
    }

    #[test]
    fn what_is_late_is_overdue() {
        let told = |ago, due| {
            let freshness = Freshness {
                swept_seconds_ago: ago,
                sweep_in_seconds: due,
                ..Freshness::default()
            };
            freshness.sweep()
        };
        assert_eq!(told(Some(1.0), None), None);
        assert_eq!(told(None, Some(15.0)).unwrap(), "next look in 15 s");
        assert_eq!(
            told(Some(30.4), Some(-3.0)).unwrap(),
            "last looked at 30 s ago, looking now"
        );
        assert_eq!(
            told(Some(700.0), Some(-90.0)).unwrap(),
            "last looked at 700 s ago, overdue by 90 s"
        );
    }
}
