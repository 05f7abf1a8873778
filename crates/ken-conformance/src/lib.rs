//! The tests that every engine of an index must pass.
//!
//! An engine implements [`Index`] and calls [`suite!`] in a test target of its own. Each test writes documents through
//! [`ken_engine::Sink`], reads through [`ken_engine::Source`], and compares with a slow definition of the right answer.

#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "the functions of this crate are tests"
)]

use std::path::Path;
use std::sync::Arc;

use ken_core::{Document, Location, Token};
use ken_engine::{FileState, Record, Sink, Source};

pub mod carriers;
pub mod limits;
pub mod queries;
pub mod results;
pub mod threads;

/// An index of the engine under test. It is removed when the value is dropped.
pub trait Index {
    /// Opens the index for writing, with `threads` threads that add documents.
    fn sink(&self, threads: usize) -> Box<dyn Sink>;

    /// Opens the last commit.
    fn source(&self) -> Arc<dyn Source>;
}

/// Makes an empty index.
pub type New<'n> = &'n dyn Fn() -> Box<dyn Index>;

/// Adds a document of a file. `is_own` says whether it is the file's own document, which comes last.
fn add(sink: &dyn Sink, path: &str, document: Document, is_own: bool) {
    let record = Record {
        key: sink.meta().hasher.key(Path::new(path)),
        location: Location {
            path: path.into(),
            ipath: document.ipath.clone(),
        },
        state: is_own.then_some(FileState {
            token: Token::from_number(7),
            identity: 8,
        }),
        document,
    };
    sink.add(record).unwrap();
}

/// Makes a test function for each test of the suite. The argument is a function that makes an empty [`Index`].
///
/// `suite!(elsewhere NEW)` leaves out what only an engine in this process can do: to look at the limits of a request often.
/// `suite!(elsewhere NEW, if THERE)` runs no test unless the engine is there.
#[macro_export]
macro_rules! suite {
    (@tests $new:expr, $is_there:expr; $($module:ident::$test:ident)*) => {
        $(
            #[test]
            fn $test() {
                if $is_there {
                    $crate::$module::$test(&$new);
                }
            }
        )*
    };
    (elsewhere $new:expr) => {
        $crate::suite!(elsewhere $new, if true);
    };
    (elsewhere $new:expr, if $is_there:expr) => {
        $crate::suite! {
            @tests $new, $is_there;
            carriers::messages_are_found_by_their_parts
            limits::a_deadline_and_a_cancellation_end_every_kind_of_request
            limits::the_end_of_a_listing_comes_soon
            queries::expressions_that_are_wrong_or_too_large_are_errors
            queries::plans_find_what_their_definition_says
            results::each_document_is_given_once
            results::locations_name_documents_and_their_members
            results::content_and_message_are_kept
            results::copies_are_duplicates_wherever_they_are
            results::folders_and_paths_are_found_by_their_names
            results::hits_are_counted_by_values_and_ranges
            results::hits_that_belong_together_are_one
            results::messages_of_a_maildir_come_in_the_order_of_their_paths
            results::pages_are_parts_of_the_whole
            results::some_documents_may_be_asked_and_others_left_out
            results::texts_sort_without_case_and_missing_values_come_last
            threads::many_messages_have_the_threads_of_few
            threads::threads_are_those_of_the_definition
        }
    };
    ($new:expr) => {
        $crate::suite! {
            @tests $new, true;
            limits::requests_ask_for_their_limits_often
        }
        $crate::suite!(elsewhere $new);
    };
}
