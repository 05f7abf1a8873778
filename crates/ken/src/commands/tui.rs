//! `ken tui`: search on the whole terminal.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use ken_tui::Setup;

use super::{access, context::context, own_program};
use crate::cli::{Global, TuiArgs};
use crate::config::{Settings, data_folder};
use crate::failure::{Failure, Kind};
use crate::opened;
use crate::output::{self, Style};

pub(crate) fn run(global: &Global, args: &TuiArgs) -> Result<ExitCode, Failure> {
    let data = data_folder(global)?;
    let settings = Settings::load(global)?;
    // Without an index there is nothing to show: say so before the screen changes.
    opened::meta(&data, &settings)?;
    let setup = Setup {
        access: access(&data, &settings, context())?,
        program: own_program(global, &data)?,
        enter_prints: args.choose,
        visible: output::clean,
        has_color: Style::of_terminal(global).color,
    };
    let chosen = ken_tui::run(setup, &args.query.join(" ")).map_err(|error| {
        match std::io::stdin().is_terminal() || std::io::stdout().is_terminal() {
            true => Failure::new(Kind::Input, format!("the terminal cannot be used: {error}")),
            false => Failure::new(Kind::Input, format!("ken tui needs a terminal: {error}"))
                .hint("ken search prints its results anywhere"),
        }
    })?;
    print(&chosen, if args.null { b'\0' } else { b'\n' })?;
    // A program that reads the addresses learns that there are none.
    let is_waited_for = chosen.is_empty() && !std::io::stdout().is_terminal();
    Ok(ExitCode::from(u8::from(is_waited_for)))
}

/// Prints addresses, each with this byte behind it.
fn print(addresses: &[OsString], end: u8) -> std::io::Result<()> {
    let mut text = Vec::new();
    for address in addresses {
        text.extend_from_slice(address.as_bytes());
        text.push(end);
    }
    output::print(&text)
}
