//! Which function answers which path? The description of the API is made from this table.

use serde_json::Value;

use crate::answer::{Answer, Error};
use crate::{Asked, Web};

use super::parameter::Parameter;
use super::{documents, events, grep, mail, pictures, search, terms};

/// Answers a request; the text is what stands for `{}` in the path.
type Answering = fn(&Web, &Asked, &str) -> Result<Answer, Error>;

/// A path, and who answers it.
pub(super) struct Route {
    /// The path below `/api/v1/`; `{}` stands for one part.
    pub(super) path: &'static str,
    pub(super) methods: &'static [&'static str],
    /// What it does, for people.
    pub(super) summary: &'static str,
    /// The parameters, as the description of the API names them.
    pub(super) parameters: fn() -> Vec<Parameter>,
    /// The request that a POST takes as an object, with its usual values.
    pub(super) body: Option<fn() -> Value>,
    /// The media type of the answer, and the name of the schema of its object.
    pub(super) gives: (&'static str, &'static str),
    pub(super) answer: Answering,
}

pub(super) const JSON: &str = "application/json";
pub(super) const LINES: &str = "application/x-ndjson";
const GET: &[&str] = &["GET"];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "search",
        methods: &["GET", "POST"],
        summary: "Find documents. A POST has the request as an object",
        parameters: search::parameters,
        body: Some(search::body),
        gives: (JSON, "Found"),
        answer: search::answer,
    },
    Route {
        path: "documents/{}",
        methods: GET,
        summary: "A document with its fields",
        parameters: documents::no_parameters,
        body: None,
        gives: (JSON, "Document"),
        answer: documents::answer,
    },
    Route {
        path: "documents/{}/text",
        methods: GET,
        summary: "The text of a document, or some of its lines or pages",
        parameters: documents::text_parameters,
        body: None,
        gives: (JSON, "Text"),
        answer: documents::text,
    },
    Route {
        path: "documents/{}/places",
        methods: GET,
        summary: "All places in a document that match a query",
        parameters: documents::places_parameters,
        body: None,
        gives: (JSON, "Places"),
        answer: documents::places,
    },
    Route {
        path: "documents/{}/members",
        methods: GET,
        summary: "The documents in an archive, a mailbox, or a message",
        parameters: documents::no_parameters,
        body: None,
        gives: (JSON, "Members"),
        answer: documents::members,
    },
    Route {
        path: "documents/{}/original",
        methods: GET,
        summary: "The bytes of a document, if it is as it was indexed",
        parameters: documents::no_parameters,
        body: None,
        gives: ("application/octet-stream", ""),
        answer: documents::original,
    },
    Route {
        path: "documents/{}/picture",
        methods: GET,
        summary: "A page of a PDF file as a picture, or the picture that a document is, drawn anew",
        parameters: pictures::parameters,
        body: None,
        gives: ("image/png", ""),
        answer: pictures::answer,
    },
    Route {
        path: "documents/{}/words",
        methods: GET,
        summary: "The words of a page of a PDF file, and where they are",
        parameters: pictures::word_parameters,
        body: None,
        gives: (JSON, "Words"),
        answer: pictures::words,
    },
    Route {
        path: "grep",
        methods: GET,
        summary: "Lines that match a regular expression, as they are found",
        parameters: grep::parameters,
        body: None,
        gives: (LINES, "GrepEvent"),
        answer: grep::answer,
    },
    Route {
        path: "terms",
        methods: GET,
        summary: "Terms of the index and how often each occurs",
        parameters: terms::parameters,
        body: None,
        gives: (JSON, "Terms"),
        answer: terms::answer,
    },
    Route {
        path: "complete",
        methods: GET,
        summary: "The most frequent terms that begin so",
        parameters: terms::complete_parameters,
        body: None,
        gives: (JSON, "Terms"),
        answer: terms::complete,
    },
    Route {
        path: "threads",
        methods: GET,
        summary: "Threads of mail with messages that match",
        parameters: mail::thread_parameters,
        body: None,
        gives: (JSON, "Threads"),
        answer: mail::threads,
    },
    Route {
        path: "contacts",
        methods: GET,
        summary: "People in messages that match",
        parameters: mail::contact_parameters,
        body: None,
        gives: (JSON, "Contacts"),
        answer: mail::contacts,
    },
    Route {
        path: "tags",
        methods: GET,
        summary: "Tags of messages, and how many have each",
        parameters: documents::no_parameters,
        body: None,
        gives: (JSON, "Tags"),
        answer: mail::tags,
    },
    Route {
        path: "overview",
        methods: GET,
        summary: "What is indexed, as ken status --json prints it",
        parameters: documents::no_parameters,
        body: None,
        gives: (JSON, "Overview"),
        answer: events::overview,
    },
    Route {
        path: "events",
        methods: GET,
        summary: "How fresh the index is, each time that this changes (server-sent events)",
        parameters: documents::no_parameters,
        body: None,
        gives: ("text/event-stream", "Freshness"),
        answer: events::answer,
    },
    Route {
        path: "pause",
        methods: &["POST"],
        summary: "Hold changes back until resume",
        parameters: documents::no_parameters,
        body: None,
        gives: (JSON, "Done"),
        answer: events::pause,
    },
    Route {
        path: "resume",
        methods: &["POST"],
        summary: "Go on after a pause",
        parameters: documents::no_parameters,
        body: None,
        gives: (JSON, "Done"),
        answer: events::resume,
    },
];

/// Returns the route of a path, and what stands for `{}` in it.
pub(super) fn find(path: &str) -> Option<(&'static Route, &str)> {
    ROUTES.iter().find_map(|route| {
        let Some((before, after)) = route.path.split_once("{}") else {
            return (route.path == path).then_some((route, ""));
        };
        let part = path.strip_prefix(before)?.strip_suffix(after)?;
        (!part.is_empty() && !part.contains('/')).then_some((route, part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_their_routes() {
        let of = |path| find(path).map(|(route, part)| (route.path, part));
        assert_eq!(of("search"), Some(("search", "")));
        assert_eq!(of("documents/1f"), Some(("documents/{}", "1f")));
        assert_eq!(of("documents/1f/text"), Some(("documents/{}/text", "1f")));
        for none in [
            "",
            "documents",
            "documents/",
            "documents/1f/2/text",
            "search/",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
