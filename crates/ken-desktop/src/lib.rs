//! How does a user search from the desktop? The two interfaces of D-Bus by which desktops ask programs for hits.
//!
//! [`Desktop::start`] answers them on the bus of the session: `gnome` has the one of GNOME Shell, `krunner` the one of
//! KRunner. Both only translate what `finder` finds.

mod finder;
mod gnome;
mod krunner;

use std::borrow::Cow;
use std::sync::Arc;

use ken_search::service::Access;
use zbus::fdo::{RequestNameFlags, RequestNameReply};
use zbus::{Connection, connection};

use finder::Finder;

/// The name on the bus.
pub const NAME: &str = "org.ken.Search";
/// The object that answers both interfaces.
pub const PATH: &str = "/org/ken/Search";

/// What the answers depend on besides the index.
pub struct Setup {
    /// The index, and the settings by which its user searches it.
    pub access: Access,
    /// Makes characters visible that would steer what shows them.
    pub visible: fn(&str) -> Cow<'_, str>,
    /// Opens what the user chose.
    pub opener: Arc<dyn Fn(Chosen) + Send + Sync>,
}

/// What the user chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The document with this address.
    Document(String),
    /// The folder of the document with this address.
    Folder(String),
    /// All hits of a query.
    All(String),
}

/// The answers on the bus of the session, until dropped.
pub struct Desktop {
    finder: Arc<Finder>,
    _connection: Connection,
}

impl Desktop {
    /// Answers on the bus of the session; returns none if another program has the name there.
    ///
    /// # Errors
    /// Fails if the session has no bus, or the bus refuses.
    pub fn start(setup: Setup) -> zbus::Result<Option<Self>> {
        let finder = Arc::new(Finder::new(setup));
        let answers = gnome::Provider(Arc::clone(&finder));
        let runner = krunner::Runner(Arc::clone(&finder));
        zbus::block_on(async {
            // Both answer before the name is known, so no question meets an object without an interface.
            let connection = connection::Builder::session()
                .serve_at(PATH, answers)
                .serve_at(PATH, runner)
                .build()
                .await?;
            let flags = RequestNameFlags::DO_NOT_QUEUE;
            match connection.request_name_with_flags(NAME, flags).await {
                Ok(RequestNameReply::PrimaryOwner) => Ok(Some(Self {
                    finder,
                    _connection: connection,
                })),
                Ok(_) | Err(zbus::Error::NameTaken) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Answers by other settings from now on.
    pub fn renew(&self, access: Access) {
        self.finder.renew(access);
    }
}
