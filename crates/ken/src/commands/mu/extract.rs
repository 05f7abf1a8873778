//! `mu extract`: lists or saves the parts of a message.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use ken_mail::MimePart;
use ken_server::mu::{file_name, parts};
use regex_automata::meta::Regex;

use super::options::Typed;
use super::{Outcome, Refusal, is_new, message};
use crate::cli::Global;
use crate::output;

pub(super) fn run(global: &Global, typed: &Typed) -> Outcome {
    let standard_input = OsString::from("-");
    let (file, pattern) = match typed.words.as_slice() {
        [] => (&standard_input, None),
        [file] => (file, None),
        [file, pattern] => (file, Some(pattern.to_string_lossy().into_owned())),
        _ => return Err(Refusal::Usage("too many parameters".to_owned())),
    };
    let message = message::read(Path::new(file))?;
    let parts = parts(&message);
    let Some(wanted) = wanted(typed, pattern, &parts)? else {
        output::print(listed(&parts).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let folder = typed
        .value("target-dir")
        .map_or_else(PathBuf::new, PathBuf::from);
    let there: Vec<_> = wanted
        .into_iter()
        .filter_map(|number| Some((number, parts.get(number)?)))
        .collect();
    if there.is_empty() && is_new(global)? {
        let what = match typed.has("save-attachments") {
            true => "attachments",
            false => "parts",
        };
        let message = format!("no {what} extracted from this message");
        return Err(Refusal::Said(message));
    }
    for (number, part) in there {
        let path = folder.join(file_name(part, number));
        save(&path, part, typed.has("overwrite"))?;
        if typed.has("play") {
            play(&path)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the numbers of the parts to save, from 0; `None` to list them.
fn wanted(
    typed: &Typed,
    pattern: Option<String>,
    parts: &[MimePart<'_>],
) -> Result<Option<Vec<usize>>, Refusal> {
    let all = 0..parts.len();
    let attached = |number: &usize| parts[*number].is_file;
    if let Some(pattern) = pattern.or_else(|| typed.text("matches")) {
        let regex = Regex::new(&format!("(?i){pattern}")).map_err(|error| {
            Refusal::Said(format!(
                "\"{pattern}\" is not a regular expression: {error}"
            ))
        })?;
        let matches = |number: &usize| attached(number) && regex.is_match(&parts[*number].name);
        return Ok(Some(all.filter(matches).collect()));
    }
    if let Some(list) = typed.text("parts") {
        let mut numbers = Vec::new();
        for text in list.split(',') {
            let number: usize = text
                .trim()
                .parse()
                .ok()
                .filter(|number| *number > 0)
                .ok_or_else(|| Refusal::Usage(format!("\"{text}\" is no number of a part")))?;
            numbers.push(number - 1);
        }
        return Ok(Some(numbers));
    }
    Ok(match () {
        () if typed.has("save-all") => Some(all.collect()),
        () if typed.has("save-attachments") => Some(all.filter(attached).collect()),
        () => None,
    })
}

fn listed(parts: &[MimePart<'_>]) -> String {
    let mut text = "MIME-parts in this message:\n".to_owned();
    for (number, part) in parts.iter().enumerate() {
        let name = match part.name.as_str() {
            "" => "<none>",
            name => name,
        };
        let disposition = if part.is_declared {
            "attachment"
        } else {
            "inline"
        };
        let size = match part.n_encoded_bytes() {
            0 => String::new(),
            n => format!(" ({n} bytes)"),
        };
        text.push_str(&format!(
            "  {} {} {} [{disposition}]{size}\n",
            number + 1,
            output::clean(name),
            output::clean(&part.media_type),
        ));
    }
    text
}

/// Writes a part to a file that only the user may read.
fn save(path: &Path, part: &MimePart<'_>, overwrite: bool) -> Result<(), Refusal> {
    use fs_err::os::unix::fs::OpenOptionsExt;
    let mut options = fs_err::OpenOptions::new();
    options.write(true).mode(0o600);
    match overwrite {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let mut file = options.open(path).map_err(|error| {
        let cause = output::system_words(&error);
        Refusal::Said(format!("failed to open '{}' ({cause})", path.display()))
    })?;
    Ok(file.write_all(&part.content.decode())?)
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn play(path: &Path) -> Result<(), Refusal> {
    let program = std::env::var_os("MU_PLAY_PROGRAM").unwrap_or_else(|| "xdg-open".into());
    let status = Command::new(&program).arg(path).status().map_err(|error| {
        Refusal::Said(format!(
            "cannot start \"{}\": {error}",
            program.to_string_lossy()
        ))
    })?;
    match status.success() {
        true => Ok(()),
        false => Err(Refusal::Said(format!(
            "\"{}\": {status}",
            program.to_string_lossy()
        ))),
    }
}
