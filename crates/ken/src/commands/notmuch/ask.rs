//! Commands that only read: search, count, address, show, reply, dump.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::process::ExitCode;

use flate2::Compression;
use flate2::write::GzEncoder;
use ken_server::notmuch::{
    AddressRequest, DumpFormat, Exclude, Form, Gnupg, Include, Output, Printer, Query, ReplyFormat,
    ReplyRequest, Same, SearchRequest, ShowFormat, ShowRequest, Sort, sort,
};

use super::gnupg;
use super::options::{OptionRow, Takes, Typed};
use super::{Outcome, Refusal, Session, format_version, warn};

const FORMATS: Takes = Takes::Word(&["json", "sexp", "text", "text0"]);
const SORTS: Takes = Takes::Word(&["oldest-first", "newest-first"]);
const DECRYPT: Takes = Takes::WordOr(&["false", "auto", "true", "stash"], "true");

/// The largest list of queries that is read.
const MAX_INPUT_BYTES: u64 = 1 << 30;

fn query(session: &Session<'_>, typed: &Typed, text: String) -> Query {
    Query {
        text,
        is_sexp: session.is_sexp(typed),
        sort: typed.value("sort").and_then(sort).unwrap_or_default(),
        exclude: match typed.value("exclude") {
            Some("false") => Exclude::False,
            Some("flag") => Exclude::Flag,
            Some("all") => Exclude::All,
            _ => Exclude::True,
        },
        exclude_tags: session.places.list("search.exclude_tags"),
    }
}

fn form(typed: &Typed) -> Form {
    match typed.value("format") {
        Some("json") => Form::Json,
        Some("sexp") => Form::Sexp,
        Some("text0") => Form::Text0,
        _ => Form::Text,
    }
}

/// Returns the query that was typed, which must not be empty.
fn wanted(command: &str, typed: &Typed) -> Result<String, Refusal> {
    match typed.query() {
        text if text.is_empty() => Err(Refusal::Said(format!(
            "Error: notmuch {command} requires at least one search term."
        ))),
        text => Ok(text),
    }
}

pub(super) fn search(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        (
            "output",
            Takes::Word(&["summary", "threads", "messages", "files", "tags"]),
        ),
        (
            "exclude",
            Takes::WordOr(&["true", "false", "flag", "all"], "true"),
        ),
        ("offset", Takes::Number),
        ("limit", Takes::Number),
        ("duplicate", Takes::Number),
        ("sort", SORTS),
        ("format", FORMATS),
        ("format-version", Takes::Number),
    ];
    let typed = session.read("search", &[OPTIONS], arguments)?;
    let output = match typed.value("output") {
        Some("threads") => Output::Threads,
        Some("messages") => Output::Messages,
        Some("files") => Output::Files,
        Some("tags") => Output::Tags,
        _ => Output::Summary,
    };
    let duplicate = typed.number("duplicate");
    if duplicate.is_some() && !matches!(output, Output::Files | Output::Messages) {
        return Err(Refusal::said(
            "Error: --duplicate=N is only supported with --output=files and --output=messages.",
        ));
    }
    let form = form(&typed);
    if form == Form::Text0 && output == Output::Summary {
        return Err(Refusal::said(
            "Error: --format=text0 is not compatible with --output=summary.",
        ));
    }
    let version = format_version(&typed)?;
    let mut query = query(session, &typed, wanted("search", &typed)?);
    if query.exclude == Exclude::Flag && output != Output::Summary {
        warn("Warning: this output format cannot flag excluded messages.")?;
        query.exclude = Exclude::False;
    }
    let database = session.database()?;
    session.check_uuid(&database, &typed)?;
    let request = SearchRequest {
        query,
        output,
        offset: typed.number("offset").unwrap_or(0),
        limit: typed
            .number("limit")
            .and_then(|limit| usize::try_from(limit).ok()),
        duplicate: duplicate.and_then(|number| usize::try_from(number).ok()),
        version,
    };
    let mut out = BufWriter::new(crate::output::stdout());
    database.search(&request, &mut Printer::new(form, &mut out))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn address(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        (
            "output",
            Takes::Word(&["sender", "recipients", "count", "address"]),
        ),
        ("exclude", Takes::WordOr(&["true", "false"], "true")),
        ("deduplicate", Takes::Word(&["no", "mailbox", "address"])),
        ("sort", SORTS),
        ("format", FORMATS),
        ("format-version", Takes::Number),
    ];
    let typed = session.read("address", &[OPTIONS], arguments)?;
    let asks = |name: &str| typed.values("output").any(|value| value == name);
    let recipients = asks("recipients");
    let same = match typed.value("deduplicate") {
        Some("no") => Same::Never,
        Some("address") => Same::Address,
        _ => Same::Mailbox,
    };
    if same == Same::Never && asks("count") {
        return Err(Refusal::said(
            "--output=count is not applicable with --deduplicate=no",
        ));
    }
    let request = AddressRequest {
        senders: asks("sender") || !recipients,
        recipients,
        counts: asks("count"),
        bare: asks("address"),
        same,
    };
    format_version(&typed)?;
    let query = query(session, &typed, wanted("search", &typed)?);
    let database = session.database()?;
    session.check_uuid(&database, &typed)?;
    let mut out = BufWriter::new(crate::output::stdout());
    database.addresses(&query, request, &mut Printer::new(form(&typed), &mut out))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn count(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        ("output", Takes::Word(&["threads", "messages", "files"])),
        ("exclude", Takes::Switch),
        ("lastmod", Takes::Switch),
        ("batch", Takes::Switch),
        ("input", Takes::Text),
    ];
    let typed = session.read("count", &[OPTIONS], arguments)?;
    let is_batch = typed.is_on("batch", false) || typed.value("input").is_some();
    if is_batch && !typed.words.is_empty() {
        return Err(Refusal::said("--batch and query string are not compatible"));
    }
    let queries = match is_batch {
        true => input(&typed)?.lines().map(str::to_owned).collect(),
        false => vec![typed.query()],
    };
    let database = session.database()?;
    session.check_uuid(&database, &typed)?;
    let source = database.source()?;
    let mut text = String::new();
    for words in queries {
        let query = query(session, &typed, words);
        let found = database.find(&*source, &query)?;
        let number = match typed.value("output") {
            Some("threads") => database.n_threads(&*source, &found)?,
            Some("files") => database.n_files(&*source, &found)?,
            _ => found.len(),
        };
        text.push_str(&number.to_string());
        if typed.is_on("lastmod", false) {
            let (uuid, revision) = database.revision()?;
            text.push_str(&format!("\t{uuid}\t{revision}"));
        }
        text.push('\n');
    }
    crate::output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the content of the file that an option names, or of standard input.
pub(super) fn input(typed: &Typed) -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    match typed.value("input") {
        Some(path) => {
            let file = fs_err::File::open(path).map_err(|error| {
                let cause = ken_search::service::system_words(&error);
                Refusal::Said(format!("Error opening {path} for reading: {cause}"))
            })?;
            file.take(MAX_INPUT_BYTES).read_to_end(&mut bytes)?;
        }
        None => {
            let stdin = BufReader::new(std::io::stdin().lock());
            read_all(stdin, &mut bytes)?;
        }
    }
    let bytes = ken_server::notmuch::unpacked(&bytes);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn read_all(input: impl BufRead, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    input.take(MAX_INPUT_BYTES).read_to_end(bytes)?;
    Ok(())
}

pub(super) fn show(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        ("sort", SORTS),
        (
            "format",
            Takes::Word(&["json", "text", "sexp", "mbox", "raw"]),
        ),
        ("format-version", Takes::Number),
        ("exclude", Takes::Switch),
        ("entire-thread", Takes::Switch),
        ("unthreaded", Takes::Switch),
        ("part", Takes::Number),
        ("decrypt", DECRYPT),
        ("verify", Takes::Switch),
        ("body", Takes::Switch),
        ("include-html", Takes::Switch),
        ("duplicate", Takes::Number),
    ];
    let typed = session.read("show", &[OPTIONS], arguments)?;
    let part = typed
        .number("part")
        .and_then(|part| usize::try_from(part).ok());
    let format = typed.value("format").unwrap_or(match part {
        Some(_) => "raw",
        None => "text",
    });
    if format == "mbox" && part.is_some_and(|part| part > 0) {
        return Err(Refusal::said(
            "Error: specifying parts is incompatible with mbox output format.",
        ));
    }
    let version = format_version(&typed)?;
    let mut body = typed.is_on("body", true);
    if !body && part.is_some_and(|part| part > 0) {
        warn("Warning: --body=false is incompatible with --part > 0. Disabling.")?;
        body = true;
    } else if !body && matches!(format, "mbox" | "raw") {
        warn(
            "Warning: --body=false only implemented for format=text, format=json and format=sexp",
        )?;
    }
    let include_html = typed.is_on("include-html", false);
    if include_html && matches!(format, "mbox" | "raw") {
        warn(
            "Warning: --include-html only implemented for format=text, format=json and format=sexp",
        )?;
    }
    let duplicate = typed.number("duplicate").filter(|number| *number > 0);
    let duplicate = duplicate.and_then(|number| usize::try_from(number).ok());
    let is_single = part.is_some() || duplicate.is_some() || format == "raw";
    let omits_excluded = typed.is_on("exclude", true);
    let mut query = query(session, &typed, wanted("show", &typed)?);
    query.exclude = match (is_single, omits_excluded) {
        (true, _) => Exclude::False,
        (false, true) => Exclude::True,
        (false, false) => Exclude::Flag,
    };
    let is_structured = matches!(format, "json" | "sexp");
    let request = ShowRequest {
        query,
        format: match format {
            "json" | "sexp" => ShowFormat::Structured,
            "mbox" => ShowFormat::Mbox,
            "raw" => ShowFormat::Raw,
            _ => ShowFormat::Text,
        },
        version,
        part,
        duplicate,
        entire_thread: typed.is_on("entire-thread", is_structured),
        unthreaded: typed.is_on("unthreaded", false),
        omits_excluded,
        body,
        include_html,
        extra_headers: session.places.list("show.extra_headers"),
    };
    let database = session.database()?;
    session.check_uuid(&database, &typed)?;
    let mut out = BufWriter::new(crate::output::stdout());
    let mut warnings = Vec::new();
    let is_good = {
        let mut printer = Printer::new(form(&typed), &mut out);
        database.show(&request, gnupg(&typed), &mut printer, &mut |line| {
            warnings.push(line.to_owned())
        })?
    };
    out.flush()?;
    warnings.iter().try_for_each(|line| warn(line))?;
    Ok(ExitCode::from(u8::from(!is_good)))
}

/// Returns what is asked of GnuPG. Who decrypts with a secret key also wants to know who signed.
fn gnupg(typed: &Typed) -> Gnupg<'static> {
    let wanted = typed.value("decrypt").unwrap_or("auto");
    let uses_secret_keys = matches!(wanted, "true" | "stash");
    let verifies = uses_secret_keys || typed.is_on("verify", false);
    Gnupg {
        verify: verifies.then_some(&gnupg::verify),
        decrypt: (wanted != "false").then_some(gnupg::decrypt),
        uses_secret_keys,
        keeps_session_keys: wanted == "stash",
    }
}

pub(super) fn reply(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        (
            "format",
            Takes::Word(&["default", "json", "sexp", "headers-only"]),
        ),
        ("format-version", Takes::Number),
        ("reply-to", Takes::Word(&["all", "sender"])),
        ("decrypt", DECRYPT),
        ("duplicate", Takes::Number),
    ];
    let typed = session.read("reply", &[OPTIONS], arguments)?;
    let version = format_version(&typed)?;
    let query = Query {
        exclude: Exclude::False,
        sort: Sort::NewestFirst,
        ..query(session, &typed, wanted("reply", &typed)?)
    };
    let mut own = vec![session.places.get("user.primary_email").to_owned()];
    own.extend(session.places.list("user.other_email"));
    let request = ReplyRequest {
        query,
        format: match typed.value("format") {
            Some("json" | "sexp") => ReplyFormat::Structured,
            Some("headers-only") => ReplyFormat::HeadersOnly,
            _ => ReplyFormat::Default,
        },
        version,
        to_all: typed.value("reply-to") != Some("sender"),
        duplicate: typed
            .number("duplicate")
            .and_then(|number| usize::try_from(number).ok()),
        name: session.places.get("user.name").to_owned(),
        own,
        extra_headers: session.places.list("show.extra_headers"),
    };
    let database = session.database()?;
    session.check_uuid(&database, &typed)?;
    let mut out = BufWriter::new(crate::output::stdout());
    let mut printer = Printer::new(form(&typed), &mut out);
    database.reply(&request, gnupg(&typed), &mut printer)?;
    drop(printer);
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(super) const INCLUDE: OptionRow = ("include", Takes::Word(&["config", "properties", "tags"]));

/// Returns what a dump has.
pub(super) fn include(typed: &Typed) -> Include {
    let asks = |name: &str| typed.values("include").any(|value| value == name);
    match typed.value("include") {
        None => Include::ALL,
        Some(_) => Include {
            config: asks("config"),
            properties: asks("properties"),
            tags: asks("tags"),
        },
    }
}

pub(super) fn dump(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        ("output", Takes::Text),
        ("format", Takes::Word(&["sup", "batch-tag"])),
        INCLUDE,
        ("gzip", Takes::Switch),
    ];
    let typed = session.read("dump", &[OPTIONS], arguments)?;
    let database = session.database()?;
    session.check_uuid(&database, &typed)?;
    let format = match typed.value("format") {
        Some("sup") => DumpFormat::Sup,
        _ => DumpFormat::BatchTag,
    };
    let (query, is_sexp) = (typed.query(), session.is_sexp(&typed));
    let mut bytes = Vec::new();
    database.dump(&query, is_sexp, format, include(&typed), &mut bytes)?;
    if typed.is_on("gzip", false) {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&bytes)?;
        bytes = packed.finish()?;
    }
    match typed.value("output") {
        Some(path) => {
            // The file is written whole or not at all.
            let new = format!("{path}.new");
            // Properties may be session keys.
            _ = fs_err::remove_file(&new);
            let mut options = ken_private::options();
            let mut file = options.write(true).create_new(true).open(&new)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs_err::rename(new, path)?;
        }
        None => crate::output::print(&bytes)?,
    }
    Ok(ExitCode::SUCCESS)
}
