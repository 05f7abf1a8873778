//! Answers the desktop on the bus of the session, if there is one.

use std::ffi::OsString;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use ken_api::Program;
use ken_desktop::{Chosen, Desktop, Setup};
use ken_search::service::Access;

use crate::commands::desktop;
use crate::output;

/// What answers on the bus, until dropped.
pub(super) struct Bus {
    state: Arc<Mutex<State>>,
}

/// The settings, and what answers by them once the bus has accepted it.
struct State {
    access: Access,
    desktop: Option<Desktop>,
}

impl Bus {
    /// Begins to answer, on a thread of its own: a bus may not answer.
    pub(super) fn start(access: Access, program: Program) -> Self {
        let state = State {
            access: access.clone(),
            desktop: None,
        };
        let state = Arc::new(Mutex::new(state));
        if !desktop::has_bus() {
            return Self { state };
        }
        let started = Arc::clone(&state);
        let setup = Setup {
            access,
            visible: output::clean,
            opener: Arc::new(move |chosen| open(&program, chosen)),
        };
        let start = move || match Desktop::start(setup) {
            Ok(Some(desktop)) => {
                let mut state = started.lock().unwrap_or_else(PoisonError::into_inner);
                // The settings may have changed meanwhile.
                desktop.renew(state.access.clone());
                state.desktop = Some(desktop);
            }
            // The server of another index answers the desktop.
            Ok(None) => {}
            Err(error) => output::warn(&format!("the desktop cannot ask this server: {error}")),
        };
        let spawned = thread::Builder::new().name("bus".to_owned()).spawn(start);
        if let Err(error) = spawned {
            output::warn(&format!("the desktop cannot ask this server: {error}"));
        }
        Self { state }
    }

    /// Answers by other settings from now on.
    pub(super) fn renew(&self, access: Access) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desktop) = &state.desktop {
            desktop.renew(access.clone());
        }
        state.access = access;
    }
}

/// Opens what the user chose by ken's own commands, and does not wait for it.
fn open(program: &Program, chosen: Chosen) {
    let arguments: Vec<OsString> = match chosen {
        Chosen::Document(address) => vec!["open".into(), "--".into(), address.into()],
        Chosen::Folder(address) => vec![
            "open".into(),
            "--folder".into(),
            "--".into(),
            address.into(),
        ],
        Chosen::All(query) => vec!["web".into(), "--".into(), query.into()],
    };
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).args(arguments);
    let open = move || {
        if let Err(failure) = desktop::start(&mut command) {
            output::warn(failure.message());
        }
    };
    // Whether it can be opened is seen on the desktop.
    let _ = thread::Builder::new().name("open".to_owned()).spawn(open);
}
