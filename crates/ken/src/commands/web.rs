//! `ken web`: opens the page of `ken serve` in a browser.

use std::process::{Command, ExitCode, Stdio};

use ken_api::{Client, Error};

use super::serve;
use crate::cli::{Global, ServeArgs, WebArgs};
use crate::config::data_folder;
use crate::failure::{Failure, Kind};
use crate::output;

pub(crate) fn run(global: &Global, args: WebArgs) -> Result<ExitCode, Failure> {
    match serve::client(&data_folder(global)?) {
        Some(client) => {
            show(&client, args)?;
            Ok(ExitCode::SUCCESS)
        }
        None => serve::run_with(global, &ServeArgs::default(), move |client| {
            show(client, args)?;
            output::warn("no ken serve was running: this one runs until Ctrl-C");
            Ok(())
        }),
    }
}

fn show(client: &Client, args: WebArgs) -> Result<(), Failure> {
    let address = client.web().map_err(|error| failure(&error))?.address;
    if !args.print && opens(&address) {
        return Ok(());
    }
    // It lets its reader in, so it is printed only where it is asked for, or nothing else helps.
    output::print(format!("{address}\n").as_bytes())?;
    Ok(())
}

/// Opens an address in the user's browser; returns false if there is none.
fn opens(address: &str) -> bool {
    let opener = Command::new("xdg-open")
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    opener.is_ok_and(|status| status.success())
}

fn failure(error: &Error) -> Failure {
    Failure::new(Kind::Index, error.to_string()).hint("ken status says what ken serve does")
}
