//! `recollq`: ken under the name of Recoll's command, with its command line, output and exit codes.
//!
//! recollq 1.34.3 is the reference: lines of hits, `-F` fields and addresses are the same byte for byte. The
//! description of the query is in ken's words, as there is no query of Xapian. `docs/recollq.md` lists the
//! differences.

mod fields;
mod options;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use base64ct::{Base64, Encoding};
use jiff::Timestamp;
use ken_core::{Field, FieldNames, Location};
use ken_engine::Source;
use ken_index::layout::index_folder;
use ken_search::parse::{Saved, Syntax};
use ken_search::service::{
    Answer, Error, Group, Hit, Query, Reading, Request, Service, Snippets as SnippetSettings,
};
use ken_search::snippet::Fragment;

use crate::cli::Global;
use crate::commands::query;
use crate::config::{Settings, data_folder};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::output;
use options::{Mode, Options, Refusal, Snippets};

/// The request failed, and the message is printed already.
const FAILED: u8 = 1;

/// Runs the arguments after the name of the program.
pub(crate) fn run(global: &Global, arguments: Vec<OsString>) -> Result<ExitCode, Failure> {
    let options = match options::read(arguments) {
        Ok(options) => options,
        Err(Refusal::Usage(remark)) => {
            let remark = remark.map(|line| format!("recollq: {line}\n"));
            return complain(&format!("{}{USAGE}", remark.unwrap_or_default()));
        }
        Err(Refusal::Unsupported(line)) => return complain(&format!("recollq: {line}\n")),
    };
    for remark in &options.remarks {
        complain(&format!("recollq: {remark}\n"))?;
    }
    let folder = match folder(global, &options)? {
        Ok(folder) => folder,
        Err(message) => return complain(&message),
    };
    let mut settings = Settings::load(global)?;
    if options.folder.is_some() {
        // The folder that is named has the index.
        settings.engine = Default::default();
    }
    let snapshot = match Opened::new(&folder, &settings) {
        Ok(snapshot) => snapshot.until_the_end(),
        Err(failure) => {
            let (folder, reason) = (folder.display(), failure.message());
            return complain(&format!(
                "Cant open database in {folder} reason: {reason}\n"
            ));
        }
    };
    if options.years {
        return years(&*snapshot);
    }
    let mut context = crate::commands::context::context();
    context.synonyms = query::synonyms(options.synonyms.clone(), &settings)?;
    let service = Service::new(&*snapshot, context, Saved::new());
    let mut request = request(&options);
    match service.understand(&request) {
        Ok(query) => {
            (request.sort, request.reverse) = order(&options, service.field_names())?;
            search(&options, &service, &request, query)
        }
        Err(Error::Query(error)) => {
            let reason = error.report();
            complain(&format!("Query string interpretation failed: {reason}\n"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes lines to standard error, and returns the exit code of a failure.
fn complain(text: &str) -> Result<ExitCode, Failure> {
    output::stderr().write_all(text.as_bytes())?;
    Ok(ExitCode::from(FAILED))
}

/// Returns the folder of the index; `-c` names it, as it names Recoll's configuration.
fn folder(global: &Global, options: &Options) -> Result<Result<PathBuf, String>, Failure> {
    let Some(folder) = &options.folder else {
        return data_folder(global).map(Ok);
    };
    if index_folder(folder).is_dir() {
        return Ok(Ok(folder.clone()));
    }
    let folder = folder.display();
    Ok(Err(format!(
        "Recoll init failed: \"{folder}\" is not a data folder of ken\n\
         to make one: KEN_DATA=\"{folder}\" ken index FOLDER\n"
    )))
}

/// Returns the request, without the order.
fn request(options: &Options) -> Request {
    let is_extracted = options.extract_to.is_some();
    let query = match options.mode {
        Mode::FileName => file_names(&options.query),
        _ => options.query.clone(),
    };
    Request {
        query,
        syntax: Syntax::Recoll,
        reading: match options.mode {
            Mode::Any => Reading::Any,
            Mode::All => Reading::All,
            Mode::Language | Mode::FileName => Reading::Operators,
        },
        forms: !options.unstemmed,
        recency: false,
        group: options.collapse.then_some(Group::Content),
        offset: options.offset.unwrap_or(0),
        limit: match options.limit {
            _ if options.no_results => Some(0),
            _ if is_extracted => Some(1),
            0 => None,
            limit => Some(limit),
        },
        count: !options.basic,
        // Only the path of the file to copy is needed.
        fields: is_extracted
            .then(|| "path".to_owned())
            .into_iter()
            .collect(),
        text: options.text(),
        snippets: SnippetSettings {
            count: options.n_pieces(),
            ..SnippetSettings::default()
        },
        ..Request::default()
    }
}

fn file_names(words: &str) -> String {
    let names = words.split_whitespace();
    let names = names.map(|name| format!("filename:\"{name}\""));
    names.collect::<Vec<_>>().join(" ")
}

fn years(snapshot: &dyn Source) -> Result<ExitCode, Failure> {
    let service = Service::new(snapshot, crate::commands::context::context(), Saved::new());
    let (from, to) = service.extent(Field::Date)?.unwrap_or_default();
    let zone = &service.context().zone;
    let year = |second| {
        let time = Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH);
        time.to_zoned(zone.clone()).year()
    };
    let text = format!("Min year {} Max year {}\n", year(from), year(to));
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn search(
    options: &Options,
    service: &Service<'_>,
    request: &Request,
    query: Query,
) -> Result<ExitCode, Failure> {
    let begin = Instant::now();
    let answer = service.search(request, query)?;
    let mut out = BufWriter::new(output::stdout());
    if !options.basic {
        head(options, &answer, &mut out)?;
    }
    if options.no_results {
        let millis = begin.elapsed().as_millis();
        writeln!(out, "Query setup took {millis} mS")?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &options.extract_to {
        out.flush()?;
        let mut first = None;
        answer.each_hit(
            |hit| hit.location,
            |location| {
                first.get_or_insert(location);
                Ok::<_, Failure>(())
            },
        )?;
        return first.map_or(Ok(ExitCode::SUCCESS), |first| extract(&first, path));
    }
    let printer = Printer {
        options,
        best: match options.has_ratings() {
            true => answer.best_score()?,
            false => 0.0,
        },
    };
    answer.each_hit(
        |hit| {
            let mut text = Vec::new();
            printer.hit(&mut text, &hit).map(|()| text)
        },
        |text| Ok::<_, Failure>(out.write_all(&text?)?),
    )?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the query and the number of hits.
fn head(options: &Options, answer: &Answer<'_>, out: &mut impl Write) -> io::Result<()> {
    let query = answer.tree().to_query(&FieldNames::TABLE);
    writeln!(out, "Recoll query: Query({query})")?;
    let count = if options.collapse {
        answer.n_groups()
    } else {
        answer.n_documents()
    };
    let limit = match options.limit {
        0 => usize::MAX,
        limit => limit,
    };
    match options.offset {
        Some(first) if first > 0 => {
            writeln!(out, "Printing at most {limit} results from first {first}")
        }
        _ if count > limit => writeln!(out, "{count} results (printing  {limit} max):"),
        _ => writeln!(out, "{count} results"),
    }
}

/// Returns the order of `-S`: ascending unless `-D` is given.
fn order(options: &Options, names: &FieldNames) -> Result<(String, bool), Failure> {
    const BEST_FIRST: (&str, bool) = ("relevance", false);
    let (name, is_reverse) = match options.sort.as_deref().map(fields::canonical) {
        None => BEST_FIRST,
        Some("relevancyrating") => ("relevance", !options.descending),
        Some("url" | "rcludi") => ("path", options.descending),
        Some(name) => match sorted_by(name, names) {
            Some(field) => (names.name(field), field.is_number() != options.descending),
            None => {
                complain(&format!(
                    "recollq: results cannot be sorted by \"{name}\"\n"
                ))?;
                BEST_FIRST
            }
        },
    };
    Ok((name.to_owned(), is_reverse))
}

fn sorted_by(name: &str, names: &FieldNames) -> Option<Field> {
    match name {
        "mtime" | "dmtime" => Some(Field::Date),
        "fmtime" => Some(Field::Modified),
        "fbytes" | "dbytes" | "pcbytes" => Some(Field::Size),
        "mtype" => Some(Field::Mime),
        "recipient" => Some(Field::To),
        name => names
            .field(name)
            .filter(|field| field.has_column() && !matches!(field, Field::Path | Field::Root)),
    }
}

/// Copies the file of a hit to a path that does not exist yet.
fn extract(location: &Location, path: &PathBuf) -> Result<ExitCode, Failure> {
    if !location.ipath.is_root() {
        let location = output::clean(&location.to_string()).into_owned();
        return complain(&format!(
            "recollq: {location} is a member of a file; ken copies only whole files\n"
        ));
    }
    let target = fs_err::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path);
    let mut target = match target {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return complain("Output file must not exist.\n");
        }
        Err(error) => return complain(&format!("recollq: {error}\n")),
    };
    let copied = ken_walk::open_named(&location.path)
        .and_then(|mut source| io::copy(&mut source, &mut target));
    match copied {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(error) => complain(&format!("recollq: {error}\n")),
    }
}

/// What is needed to print hits.
struct Printer<'a> {
    options: &'a Options,
    best: f32,
}

impl Printer<'_> {
    fn hit(&self, out: &mut impl Write, hit: &Hit) -> io::Result<()> {
        if let Some(names) = &self.options.fields {
            return self.fields(out, hit, names);
        }
        out_url(out, hit, self.options)?;
        if self.options.basic {
            out.write_all(b"\n")?;
        } else {
            let size = hit.document.number(Field::Size).unwrap_or(0);
            let title = hit.title().unwrap_or_default();
            writeln!(out, "]\t[{}]\t{size}\tbytes\t", output::clean(title))?;
            if self.options.metadata {
                for (name, value) in fields::all(hit, self.rating(hit)) {
                    write!(out, "{name} = ")?;
                    out.write_all(&value)?;
                    out.write_all(b"\n")?;
                }
            }
            if self.options.abstracts {
                self.pieces(out, &hit.snippets)?;
            }
        }
        if self.options.contents {
            writeln!(out, "{}", hit.document.body)?;
        }
        Ok(())
    }

    /// Returns the relevance of a hit, in per cent of the best.
    fn rating(&self, hit: &Hit) -> Option<u8> {
        let score = hit.score.filter(|_| self.best > 0.0)?;
        Some((score / self.best * 100.0).clamp(0.0, 100.0).round() as u8)
    }

    /// Prints the requested fields, in base64, on one line.
    fn fields(&self, out: &mut impl Write, hit: &Hit, names: &[String]) -> io::Result<()> {
        let all = fields::all(hit, self.rating(hit));
        let known = |name: &str| {
            let name = fields::canonical(name);
            let found = all.iter().find(|(of, _)| *of == name);
            found.map_or(&b""[..], |(_, value)| value.as_slice())
        };
        let every = all.iter().map(|(name, value)| (*name, value.as_slice()));
        let wanted: Vec<(&str, &[u8])> = match names {
            [] => every.collect(),
            names => names
                .iter()
                .map(|name| (name.as_str(), known(name)))
                .collect(),
        };
        for (name, value) in wanted {
            match (self.options.field_names, value.is_empty()) {
                (true, true) => continue,
                (true, false) => write!(out, "{name} ")?,
                (false, _) => {}
            }
            write!(out, "{} ", Base64::encode_string(value))?;
        }
        writeln!(out)
    }

    /// Prints an abstract, or snippets with their pages or lines.
    fn pieces(&self, out: &mut impl Write, pieces: &[Fragment]) -> io::Result<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        let label = |piece: &Fragment| match self.options.snippets {
            Some(Snippets::WithLines(_)) => piece.line,
            _ => piece.page.unwrap_or(0),
        };
        if self.options.snippets.is_none() {
            let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
            return writeln!(out, "ABSTRACT\n{}\n/ABSTRACT", texts.join(" ... "));
        }
        writeln!(out, "SNIPPETS")?;
        for piece in pieces {
            writeln!(out, "{} : {}", label(piece), piece.text)?;
        }
        writeln!(out, "/SNIPPETS")
    }
}

fn out_url(out: &mut impl Write, hit: &Hit, options: &Options) -> io::Result<()> {
    if !options.basic {
        write!(out, "{}\t[", hit.document.media_type)?;
    }
    out.write_all(&fields::url(&hit.location.path, options.encode_urls))
}

const USAGE: &str = "\
recollq: usage: recollq [-o|-a|-f] [options] <query>
 The query is one of Recoll's language; with -o any, with -a all of the words, with -f a file name.
 -n [first-]<count>  results to print, from the first-th (0) on; 0: all; else at most 2000
 -b                  only the addresses        -e  with %xx in them
 -Q                  no results, only the query and the count
 -m                  all fields of each result -d  its text
 -A                  abstracts; with -p <n>: n snippets with pages, with -g <n>: with lines
 -S <field>          sort by a field           -D  downwards
 -F \"<fields>\"       exactly these fields, in base 64; '' for all    -N  with their names
 -C                  results of the same content once
 -s \"\"               words without their other forms
 -T <file>           words that are found for each other
 -P                  first and last year of all documents
 -c <folder>         data folder of ken that holds the index
 --extract-to <file> copy the file of the first result to a new file
";
