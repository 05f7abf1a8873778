//! Targets that take their bytes for something else than a file.

mod access_list;
mod mcp_message;
mod message_tree;
mod mu_labels;
mod mu_request;
mod need;
mod ngrams;
mod notmuch_config;
mod query;
mod tag_log;

use ken_search::parse::Syntax;

use crate::check::check;

/// What a target begins with.
pub(crate) enum Seeds {
    /// Samples with these extensions.
    Samples(&'static [&'static str]),
    /// A part of a sample.
    Part(&'static str, &'static str),
}

/// The name of a target, what it does with its bytes, and what it begins with.
pub(crate) type Other = (&'static str, fn(&[u8]), Seeds);

const NONE: Seeds = Seeds::Samples(&[]);

pub(crate) const OTHERS: &[Other] = &[
    ("access_list", access_list::run, NONE),
    (
        "draw",
        ken_extract::fuzzing::draw,
        Seeds::Samples(&["pdf", "png", "jpg", "gif", "webp", "bmp", "tif"]),
    ),
    ("helper_answers", ken_extract::fuzzing::helper_answers, NONE),
    (
        "hwp_section",
        ken_extract::fuzzing::hwp_section,
        Seeds::Part("office/sample.hwp", "section"),
    ),
    ("listings", ken_walk::fuzzing::listings, NONE),
    ("mcp_message", mcp_message::run, NONE),
    ("message_tree", message_tree::run, Seeds::Samples(&["eml"])),
    ("mh_sequences", ken_walk::fuzzing::mh_sequences, NONE),
    ("mimeconf", ken_extract::fuzzing::mimeconf, NONE),
    ("mu_labels", mu_labels::run, NONE),
    ("mu_request", mu_request::run, NONE),
    ("need", need::run, NONE),
    ("ngrams", ngrams::run, NONE),
    ("notmuch_config", notmuch_config::run, NONE),
    ("ocr_pages", ken_extract::fuzzing::ocr_pages, NONE),
    (
        "pictures",
        pictures,
        Seeds::Samples(&["bmp", "ico", "jxl", "tga"]),
    ),
    ("query", query::run, NONE),
    ("query_mu", |bytes| query::of(Syntax::Mu, bytes), NONE),
    (
        "query_notmuch",
        |bytes| query::of(Syntax::Notmuch, bytes),
        NONE,
    ),
    (
        "query_recoll",
        |bytes| query::of(Syntax::Recoll, bytes),
        NONE,
    ),
    ("sidecar", sidecar, Seeds::Samples(&["xmp"])),
    ("stored_document", ken_index::fuzzing::stored_document, NONE),
    ("tag_log", tag_log::run, NONE),
    ("term_list", ken_index::fuzzing::term_list, NONE),
    ("worker_answers", ken_extract::fuzzing::worker_answers, NONE),
];

/// Pictures of which only the size is read, by `imagesize`; the first byte chooses the format.
fn pictures(bytes: &[u8]) {
    const NAMES: [&str; 9] = [
        "a.bmp", "a.dds", "a.exr", "a.ico", "a.jxl", "a.pnm", "a.qoi", "a.tga", "a.xpm",
    ];
    if let Some((first, bytes)) = bytes.split_first() {
        check(NAMES[usize::from(*first) % NAMES.len()], bytes);
    }
}

fn sidecar(packet: &[u8]) {
    ken_extract::beside::sidecar(packet);
}
