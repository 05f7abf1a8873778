//! `mu find`: finds messages, and prints them in any of mu's formats.

use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use ken_mail::maildir::make;
use ken_server::mu::{BodyForm, ErrorKind, Find, Found, MailColumn, Store, body};

use super::options::Typed;
use super::{Outcome, Refusal, format, home, no_matches};
use crate::cli::Global;

/// The fields without `--fields`.
const DEFAULT_FIELDS: &str = "d f s";
/// The most bytes of a message that is summarised.
const MAX_SUMMARY_BYTES: u64 = 16 << 20;

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Plain,
    Links,
    Xml,
    Json { with_colons: bool },
    Sexp,
    Query,
}

pub(super) fn run(global: &Global, typed: &Typed) -> Outcome {
    let format = format_of(typed)?;
    let find = asked(typed)?;
    let mut store = home::store(global, typed)?;
    if typed.has("analyze") || format == Format::Query {
        return analyze(&mut store, &find.query, typed.has("analyze"));
    }
    let found = match store.find(&find) {
        Err(error) if error.kind == ErrorKind::Query => return Err(Refusal::Said(error.message)),
        found => found?,
    };
    if found.is_empty() {
        // This is neither an error nor output.
        crate::output::stderr().write_all(b"no matches for search expression\n")?;
        return no_matches(global);
    }
    match typed.text("exec") {
        Some(command) => run_on_each(&command, &found)?,
        None if format == Format::Links => links(typed, &found)?,
        None => print(typed, format, &store, &found)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn format_of(typed: &Typed) -> Result<Format, Refusal> {
    let name = typed.text("format");
    Ok(match name.as_deref() {
        None if typed.has("linksdir") => Format::Links,
        None | Some("plain") => Format::Plain,
        Some("links") => Format::Links,
        Some("xml") => Format::Xml,
        Some("json") => Format::Json { with_colons: true },
        Some("json2") => Format::Json { with_colons: false },
        Some("sexp") => Format::Sexp,
        Some("xquery" | "mquery") => Format::Query,
        Some(name) => {
            let message = format!("invalid argument (invalid output format {name})");
            return Err(Refusal::Usage(message));
        }
    })
}

fn asked(typed: &Typed) -> Result<Find, Refusal> {
    let mut query = typed.joined();
    if let Some(name) = typed.text("bookmark") {
        let bookmark = bookmark(typed, &name)?;
        query = match query.trim() {
            "" => bookmark,
            query => format!("({bookmark}) AND ({query})"),
        };
    } else if typed.words.is_empty() {
        return Err(Refusal::Usage(
            "invalid argument (missing query)".to_owned(),
        ));
    }
    let sort = match typed.text("sortfield") {
        None => MailColumn::Date,
        Some(name) => MailColumn::from_name(&name)
            .ok_or_else(|| Refusal::Usage(format!("invalid sort field: '{name}'")))?,
    };
    let limit = typed.number("maxnum").map_err(Refusal::Usage)?;
    Ok(Find {
        query,
        sort,
        descending: typed.has("reverse"),
        limit: limit
            .filter(|limit| *limit > 0)
            .and_then(|limit| limit.try_into().ok()),
        threads: typed.has("threads"),
        skip_dups: typed.has("skip-dups"),
        related: typed.has("include-related"),
        after: typed.number("after").map_err(Refusal::Usage)?,
    })
}

/// Returns the query with a name in a file of bookmarks.
fn bookmark(typed: &Typed, name: &str) -> Result<String, Refusal> {
    let folder = home::muhome(typed).or_else(home::mu_config);
    let path = folder.unwrap_or_default().join("bookmarks");
    let unresolved = |why: String| Refusal::Said(format!("failed to resolve bookmark ({why})"));
    let text = fs_err::read_to_string(&path).map_err(|_| {
        unresolved(format!(
            "failed to open bookmarks file '{}'",
            path.display()
        ))
    })?;
    let lines = text.lines().map(str::trim);
    let mut in_section = lines.skip_while(|line| *line != "[mu]").skip(1);
    let found = in_section.find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    });
    found.ok_or_else(|| unresolved(format!("bookmark '{name}' not found")))
}

/// Prints how a query is understood.
fn analyze(store: &mut Store, query: &str, in_full: bool) -> Outcome {
    let (understood, plan) = store.explain(query)?;
    let text = match in_full {
        true => format!("query: {query}\nken's query: {understood}\nplan: {plan}\n"),
        false => format!("{understood}\n"),
    };
    crate::output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn print(typed: &Typed, format: Format, store: &Store, found: &[Found]) -> Result<(), Refusal> {
    let fields = typed
        .text("fields")
        .unwrap_or_else(|| DEFAULT_FIELDS.to_owned());
    let n_lines = typed.number("summary-len").map_err(Refusal::Usage)?;
    let n_lines = n_lines
        .and_then(|n_lines| usize::try_from(n_lines).ok())
        .unwrap_or(0);
    let zone = crate::zone::system();
    let root = store.maildir();
    let mut out = BufWriter::new(crate::output::stdout());
    let (start, between, end) = match format {
        Format::Xml => (format::XML_START, "", format::XML_END),
        Format::Json { .. } => ("[\n", ",\n", "\n]\n"),
        _ => ("", "", ""),
    };
    out.write_all(start.as_bytes())?;
    for (position, one) in found.iter().enumerate() {
        if position > 0 {
            out.write_all(between.as_bytes())?;
        }
        match format {
            Format::Xml => out.write_all(format::xml(&one.mail, root).as_bytes())?,
            Format::Json { with_colons } => {
                let json = format::json(&one.mail, root, with_colons);
                out.write_all(json.as_bytes())?;
            }
            Format::Sexp => {
                out.write_all(&format::sexp(&one.mail, root))?;
                out.write_all(b"\n")?;
            }
            _ => {
                writeln!(out, "{}", format::plain(one, &fields, root, &zone))?;
                if n_lines > 0 {
                    let summary = summary_of(&one.mail.path, n_lines);
                    writeln!(out, "Summary: {}", crate::output::clean(&summary))?;
                }
            }
        }
    }
    out.write_all(end.as_bytes())?;
    Ok(out.flush()?)
}

/// Returns the first lines of the text of a message.
fn summary_of(path: &Path, n_lines: usize) -> String {
    let is_small = fs_err::metadata(path).is_ok_and(|file| file.len() <= MAX_SUMMARY_BYTES);
    let bytes = match is_small {
        true => fs_err::read(path).unwrap_or_default(),
        false => Vec::new(),
    };
    format::summary(&body(&bytes, BodyForm::Plain), n_lines)
}

/// Runs a shell command on each message.
fn run_on_each(command: &str, found: &[Found]) -> Result<(), Refusal> {
    for one in found {
        let status = Command::new("/bin/sh")
            .args(["-c", &format!("{command} \"$1\""), "mu"])
            .arg(&one.mail.path)
            .status()?;
        if !status.success() {
            let path = one.mail.path.display();
            return Err(Refusal::Said(format!(
                "\"{command}\" on \"{path}\": {status}"
            )));
        }
    }
    Ok(())
}

/// Creates a Maildir of links to the messages.
fn links(typed: &Typed, found: &[Found]) -> Result<(), Refusal> {
    let Some(folder) = typed.value("linksdir").map(PathBuf::from) else {
        return Err(Refusal::Usage("missing --linksdir argument".to_owned()));
    };
    if !folder.join("cur").is_dir() {
        make(&folder, 0o700)?;
        // The targets of the links are indexed already.
        fs_err::write(folder.join(".noindex"), "")?;
    }
    if typed.has("clearlinks") {
        clear(&folder)?;
    }
    for (number, one) in found.iter().enumerate() {
        let path = &one.mail.path;
        let part = if one.mail.flags().contains(&"new") {
            "new"
        } else {
            "cur"
        };
        let mut name = format!("{number:08}_").into_bytes();
        name.extend_from_slice(path.file_name().unwrap_or_default().as_bytes());
        let link = folder.join(part).join(std::ffi::OsStr::from_bytes(&name));
        fs_err::os::unix::fs::symlink(path, link)?;
    }
    Ok(())
}

/// Removes all links from a folder of links, and nothing else.
fn clear(folder: &Path) -> Result<(), Refusal> {
    for part in ["cur", "new"] {
        for entry in fs_err::read_dir(folder.join(part))? {
            let entry = entry?;
            if entry.file_type()?.is_symlink() {
                fs_err::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}
