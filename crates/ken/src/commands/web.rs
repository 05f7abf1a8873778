//! `ken web`: opens the page of `ken serve` in a browser.

use std::path::Path;
use std::process::{Command, ExitCode};

use ken_api::{Client, Error};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{desktop, serve};
use crate::cli::{Global, ServeArgs, WebArgs};
use crate::config::data_folder;
use crate::failure::{Failure, Kind};
use crate::output;

pub(crate) fn run(global: &Global, args: WebArgs) -> Result<ExitCode, Failure> {
    let data = data_folder(global)?;
    match serve::client(&data) {
        Some(client) => {
            show(&client, &data, &args)?;
            Ok(ExitCode::SUCCESS)
        }
        None => serve::run_with(global, &ServeArgs::default(), move |client| {
            show(client, &data, &args)?;
            output::warn("no ken serve was running: this one runs until Ctrl-C");
            Ok(())
        }),
    }
}

fn show(client: &Client, data: &Path, args: &WebArgs) -> Result<(), Failure> {
    let address = client.web().map_err(|error| failure(&error))?.address;
    let address = match args.query.is_empty() {
        true => address,
        false => with_query(&address, &args.query.join(" ")),
    };
    if !args.print && opens(data, &address) {
        return Ok(());
    }
    // It lets its reader in, so it is printed only where it is asked for, or nothing else helps.
    output::print(format!("{address}\n").as_bytes())?;
    Ok(())
}

/// Adds a query to the address of the page, before the token.
fn with_query(address: &str, query: &str) -> String {
    let query = utf8_percent_encode(query, NON_ALPHANUMERIC);
    match address.split_once('#') {
        Some((page, token)) => format!("{page}?q={query}#{token}"),
        None => format!("{address}?q={query}"),
    }
}

/// Opens an address in the user's browser; returns false if that fails. All users of the machine see the arguments of a
/// program, so the browser gets the address from a file that only the user can read.
fn opens(data: &Path, address: &str) -> bool {
    let file = data.join("web.html");
    // Nothing in the address has a meaning in HTML: what is neither letter nor digit in the query is encoded.
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>ken</title><meta http-equiv=refresh content=\"0;url={address}\">\n"
    );
    if ken_private::write(&file, page.as_bytes()).is_err() {
        return false;
    }
    desktop::start(Command::new(desktop::OPENER).arg(&file)).is_ok()
}

fn failure(error: &Error) -> Failure {
    Failure::new(Kind::Index, error.to_string()).hint("ken status says what ken serve does")
}
