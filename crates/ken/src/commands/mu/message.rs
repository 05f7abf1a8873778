//! `mu view`, `mu verify`, `mu mkdir` and `mu move`: commands on single messages and folders.

use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ken_mail::Personal;
use ken_mail::maildir::{MoveError, Target, make, relocate as move_message};
use ken_server::mu::{BodyForm, Mail, body, parts, shared_flags};

use super::options::Typed;
use super::{Outcome, Refusal, format, home, is_new};
use crate::cli::Global;
use crate::commands::mail;
use crate::output;

/// The most bytes of a message.
const MAX_BYTES: u64 = 512 << 20;

/// Returns the content of a message; `-` is standard input.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(MAX_BYTES)
            .read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    match ken_walk::open_named(path) {
        Ok(file) => {
            file.take(MAX_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        }
        Err(_) => {
            let message = format!("file @ '{}' is not readable", path.display());
            Err(Refusal::Said(message))
        }
    }
}

pub(super) fn view(global: &Global, typed: &Typed) -> Outcome {
    let mut files: Vec<PathBuf> = typed.words.iter().map(PathBuf::from).collect();
    if files.is_empty() {
        files.push("-".into());
    }
    let n_lines = typed
        .number("summary-len")
        .map_err(Refusal::Usage)?
        .unwrap_or(0);
    let n_lines = usize::try_from(n_lines).unwrap_or(0);
    let form = match typed.text("format").as_deref() {
        None | Some("plain") => Some(BodyForm::Plain),
        Some("html") => Some(BodyForm::Html),
        Some("sexp") => None,
        Some(other) => return Err(Refusal::Usage(format!("invalid output format {other}"))),
    };
    let is_new = is_new(global)?;
    let mut out = BufWriter::new(output::stdout());
    for path in files {
        let bytes = read(&path)?;
        let mail = Mail::of_message(&std::path::absolute(&path)?, &bytes, &Personal::default());
        if let Some(form) = form {
            out.write_all(header(&mail, &bytes).as_bytes())?;
            // An empty line is behind the header from mu 1.10 on.
            out.write_all(if is_new { b"\n" } else { b"" })?;
            out.write_all(shown(&mail, &bytes, form, n_lines).as_bytes())?;
        } else {
            out.write_all(&format::sexp(&mail, Path::new("/")))?;
            out.write_all(b"\n")?;
        }
        if typed.has("terminate") {
            out.write_all(b"\x0c")?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the header of a message for people.
fn header(mail: &Mail, message: &[u8]) -> String {
    let parts = parts(message);
    let named = parts.iter().filter(|part| !part.name.is_empty());
    let named: Vec<&str> = named.map(|part| part.name.as_str()).collect();
    let date = match mail.date {
        0 => String::new(),
        date => format::time(date, &crate::zone::system()),
    };
    let mut text = String::new();
    for (name, value) in [
        ("From", format::people(&mail.from)),
        ("To", format::people(&mail.to)),
        ("Cc", format::people(&mail.cc)),
        ("Bcc", format::people(&mail.bcc)),
        ("Subject", mail.subject.clone()),
        ("Date", date),
        ("Tags", mail.tags.join(", ")),
        ("Attachments", named.join(", ")),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("{name}: {}\n", output::clean(&value)));
        }
    }
    text
}

/// Returns the text of a message, or a summary of it in as many lines.
fn shown(mail: &Mail, message: &[u8], form: BodyForm, n_lines: usize) -> String {
    let mut text = body(message, form);
    if text.is_empty() {
        let name = match form {
            BodyForm::Plain => "text",
            BodyForm::Html => "html",
        };
        let why = match mail.is_encrypted {
            true => "; message has encrypted parts",
            false => "",
        };
        return format!("[No {name} body found{why}]\n");
    }
    if n_lines > 0 {
        let summary = format::summary(&text, n_lines);
        return format!("Summary: {}\n", output::clean(&summary));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

pub(super) fn verify(typed: &Typed) -> Outcome {
    if typed.words.is_empty() {
        return Err(Refusal::Usage("missing file parameter".to_owned()));
    }
    let (mut n_signatures, mut all_good) = (0, true);
    for word in &typed.words {
        let bytes = read(Path::new(word))?;
        let detect = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for part in ken_mail::signed(&bytes, &detect) {
            let verdict = mail::verify::verify(&part)?;
            n_signatures += 1;
            all_good &= verdict.is_good;
            let line = format!("{} {}\n", verdict.text, output::clean(&verdict.signer));
            output::print(line.as_bytes())?;
        }
    }
    if n_signatures == 0 {
        output::print(b"no signed parts found\n")?;
    }
    Ok(ExitCode::from(u8::from(!all_good)))
}

pub(super) fn mkdir(typed: &Typed) -> Outcome {
    if typed.words.is_empty() {
        return Err(Refusal::Usage("missing directory parameter".to_owned()));
    }
    let mode = typed.text("mode").unwrap_or_else(|| "0755".to_owned());
    let mode = u32::from_str_radix(&mode, 8)
        .map_err(|_| Refusal::Usage(format!("invalid mode '{mode}'")))?;
    for word in &typed.words {
        make(Path::new(word), mode)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn relocate(global: &Global, typed: &Typed) -> Outcome {
    let (file, maildir) = match typed.words.as_slice() {
        [file] => (file, None),
        [file, maildir] => (file, Some(maildir.to_string_lossy().into_owned())),
        _ => {
            return Err(Refusal::Usage(
                "expected a file, and perhaps a maildir".to_owned(),
            ));
        }
    };
    let mut store = home::store(global, typed)?;
    let path = store.resolved(Path::new(file))?;
    let maildir = match &maildir {
        Some(name) => Some(store.folder(name)?),
        None => None,
    };
    let flags = typed.text("flags");
    let target = Target {
        maildir: maildir.as_deref(),
        flags: flags.as_deref(),
        rename: typed.has("change-name"),
    };
    let id = Mail::read(&path, store.personal())?.id;
    let mut moves = vec![(path.clone(), target)];
    let shared = flags.as_deref().map(shared_flags).unwrap_or_default();
    if typed.has("update-dups") && !shared.is_empty() {
        let of_duplicate = Target {
            flags: Some(&shared),
            rename: target.rename,
            ..Target::default()
        };
        let others = store.with_id(&id)?.into_iter();
        moves.extend(
            others
                .filter(|other| *other != path)
                .map(|other| (other, of_duplicate)),
        );
    }
    for (path, target) in moves {
        let failed = |error: MoveError| Refusal::Said(error.to_string());
        let to = match typed.has("dry-run") {
            true => target.path(&path).map_err(failed)?,
            false => {
                let to = move_message(&path, &target).map_err(failed)?;
                store.moved(&path, Some(&to));
                to
            }
        };
        output::print(format!("{}\n", to.display()).as_bytes())?;
    }
    store.close();
    Ok(ExitCode::SUCCESS)
}
