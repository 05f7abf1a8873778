//! Outlook stores (.pst, .ost): MS-PST, a database of nodes in pages and blocks.
//!
//! The reader has three layers: numbered blocks with trees of pages to find them (`ndb`), heaps and
//! tables in the blocks (`ltp`), and messages, which are nodes with properties (`message`). Each
//! message is written as an Outlook file (.msg) and handed on, one at a time, so a store of any
//! size takes little memory. Nodes are read in order of their numbers; folders are not needed for
//! that.

mod crypt;
mod ltp;
mod message;
mod ndb;

use ken_core::Setting;

use crate::formats::Format;
use crate::formats::mail::msg;
use crate::output::Output;
use crate::output::members::MemberNames;
use crate::{Error, Input, Member};
use ndb::Store;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "Outlook store",
    &["application/vnd.ms-outlook-pst"],
    extract,
)
.members("messages, by the number of their node")
.in_worker()
.version(6)
.streams();

/// The type of nodes that are messages.
const NORMAL_MESSAGE: u32 = 4;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let store = Store::open(input, output.limits().limit(Setting::MaxMemberBytes))?;
    output.own();
    let nodes = store.nodes()?;
    let mut names = MemberNames::default();
    let mut n_damaged = 0;
    let mut missing = None;
    for node in nodes.iter().filter(|node| node.id & 0x1f == NORMAL_MESSAGE) {
        // In a damaged store, two nodes may have the same number.
        let component = names.unique(&node.id.to_string());
        match message::as_file(&store, node) {
            Ok((bytes, damage)) => {
                missing = missing.or(damage.map(|error| (node.id, error)));
                output.member(Member {
                    ipath: output.child_ipath(&component),
                    declared_type: Some(msg::FORMAT.media_types[0].to_owned()),
                    bytes,
                    ..Member::default()
                })?;
            }
            Err(error) => {
                n_damaged += 1;
                output.failed_member(&component, "", error)?;
            }
        }
    }
    if let Some((id, error)) = missing {
        return Err(match error {
            Error::Malformed(cause) => {
                Error::Malformed(format!("message {id} lacks a part: {cause}"))
            }
            other => other,
        });
    }
    if store.is_damaged() && n_damaged == 0 {
        return Err(Error::Malformed("a page of the store is damaged".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
