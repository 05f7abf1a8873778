//! `recollq`: ken under the name of Recoll's command, with its command line, output and exit codes.
//!
//! Measured against recollq 1.34.3: the lines of results, `-F` fields and addresses are byte for
//! byte its own. What it says of the query itself is in ken's words, as there is no query of Xapian.
//! `docs/recollq.md` lists what differs.

mod fields;
mod options;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use base64ct::{Base64, Encoding};
use jiff::Timestamp;
use ken_core::{Field, FieldNames, Order, Plan, SortKey};
use ken_index::{Collapse, Hit, Request, Snapshot, Stored};
use ken_search::parse::{QueryError, Syntax, Tree, recoll_words, without_forms};
use ken_search::plan::{Context, plan};
use ken_search::snippet::{self, Finder, Fragment, Settings as SnippetSettings};
use ken_search::words;

use crate::cli::Global;
use crate::commands::query;
use crate::commands::search::{MAX_READERS, MAX_UNPACKERS, print_hits};
use crate::config::{self, Settings, data_folder};
use crate::failure::Failure;
use crate::output;
use options::{Mode, Options, Refusal, Snippets};

/// What was typed cannot be done; said already.
const FAILED: u8 = 1;

/// Snippets of an abstract.
const ABSTRACT_PIECES: usize = 3;

/// Runs what was typed after the name of the program.
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
    let snapshot = match Snapshot::open_for_one_query(&folder.join("index")) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            let folder = folder.display();
            return complain(&format!("Cant open database in {folder} reason: {error}\n"));
        }
    };
    if options.years {
        return years(&snapshot);
    }
    let settings = Settings::load(global)?;
    let snapshot = config::apply(snapshot, &settings.ranking, &settings.analysis)?;
    // The process ends after it: the kernel lets all files go at once faster than one by one.
    let snapshot = ManuallyDrop::new(snapshot);
    let mut context = super::search::context();
    let roots = snapshot.meta().roots.iter();
    context.roots = roots.map(|root| root.path.clone()).collect();
    let file = options.synonyms.clone();
    context.synonyms = query::synonyms_in(file, &settings, context.analyze)?;
    match tree(&options, &context) {
        Ok(mut tree) => {
            if options.mode == Mode::Any {
                tree = query::rarest(tree, &snapshot, context.analyze)?.0;
            }
            search(&options, &context, &snapshot, &tree)
        }
        Err(error) => {
            let reason = error.report();
            complain(&format!("Query string interpretation failed: {reason}\n"))
        }
    }
}

/// Writes lines to standard error, and returns the exit code of a failure.
fn complain(text: &str) -> Result<ExitCode, Failure> {
    io::stderr().write_all(text.as_bytes())?;
    Ok(ExitCode::from(FAILED))
}

/// Returns the folder of the index: `-c` names it as it names Recoll's configuration.
fn folder(global: &Global, options: &Options) -> Result<Result<PathBuf, String>, Failure> {
    let Some(folder) = &options.folder else {
        return data_folder(global).map(Ok);
    };
    if folder.join("index").is_dir() {
        return Ok(Ok(folder.clone()));
    }
    let folder = folder.display();
    Ok(Err(format!(
        "Recoll init failed: \"{folder}\" is not a data folder of ken\n\
         to make one: KEN_DATA=\"{folder}\" ken index FOLDER\n"
    )))
}

fn tree(options: &Options, context: &Context) -> Result<Tree, QueryError> {
    let query = &options.query;
    let tree = match options.mode {
        Mode::Language => Syntax::Recoll.parse(query)?,
        Mode::Any => match recoll_words(query)? {
            Some(parts) => Tree::or(parts),
            None => words::any(query, context.analyze)?,
        },
        Mode::All => match recoll_words(query)? {
            Some(parts) => Tree::and(parts),
            None => words::all(query)?,
        },
        Mode::FileName => {
            let names = query
                .split_whitespace()
                .map(|name| format!("filename:\"{name}\""));
            Syntax::Recoll.parse(&names.collect::<Vec<_>>().join(" "))?
        }
    };
    Ok(if options.unstemmed {
        without_forms(tree)
    } else {
        tree
    })
}

fn years(snapshot: &Snapshot) -> Result<ExitCode, Failure> {
    let (from, to) = snapshot.extent(Field::Date)?.unwrap_or_default();
    let zone = crate::zone::system();
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
    context: &Context,
    snapshot: &Snapshot,
    tree: &Tree,
) -> Result<ExitCode, Failure> {
    let begin = Instant::now();
    let plan = snapshot.expand(&plan(tree, context))?;
    let offset = options.offset.unwrap_or(0);
    let limit = match options.limit {
        0 => usize::MAX,
        limit => limit,
    };
    let request = Request {
        order: order(options, &snapshot.meta().field_names())?,
        offset,
        limit: if options.no_results { 0 } else { limit },
        collapse: options.collapse.then_some(Collapse::Content),
        counted: !options.basic,
        ..Request::new(&plan)
    };
    let found = snapshot.find(&request)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if !options.basic {
        writeln!(
            out,
            "Recoll query: Query({})",
            tree.to_query(&FieldNames::TABLE)
        )?;
        let count = if options.collapse {
            found.groups
        } else {
            found.total
        };
        match options.offset {
            Some(first) if first > 0 => {
                writeln!(out, "Printing at most {limit} results from first {first}")?;
            }
            _ if count > limit => {
                writeln!(out, "{count} results (printing  {limit} max):")?;
            }
            _ => writeln!(out, "{count} results")?,
        }
    }
    if options.no_results {
        let millis = begin.elapsed().as_millis();
        writeln!(out, "Query setup took {millis} mS")?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &options.extract_to {
        out.flush()?;
        return match found.hits.first() {
            Some(hit) => extract(&snapshot.document(hit.address)?, path),
            None => Ok(ExitCode::SUCCESS),
        };
    }
    let printer = Printer {
        options,
        finder: Finder::new(snippet::matchers(&plan, Field::Body), context.analyze),
        best: match options.has_ratings() {
            true => best(snapshot, &plan, &request, &found.hits)?,
            false => 0.0,
        },
    };
    let shown = |_, hit: &Hit| {
        let stored = match options.has_bodies() {
            true => snapshot.document_by(hit.address, MAX_UNPACKERS)?,
            false => snapshot.document_without_body(hit.address)?,
        };
        let mut text = Vec::new();
        printer.hit(&mut text, &stored, hit)?;
        Ok(text)
    };
    // Of whole texts there is no more than one at a time.
    let at_once = match options.contents {
        true => 1,
        false => found.hits.len().max(1),
    };
    for hits in found.hits.chunks(at_once) {
        print_hits(&mut out, snapshot, hits, MAX_READERS, shown)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the best score of all, by which the others are rated.
fn best(
    snapshot: &Snapshot,
    plan: &Plan,
    request: &Request<'_>,
    hits: &[Hit],
) -> Result<f32, Failure> {
    let Some(first) = hits.first().and_then(|hit| hit.score) else {
        return Ok(0.0);
    };
    if request.offset == 0 && request.order == Order::default() {
        return Ok(first);
    }
    let request = Request {
        limit: 1,
        ..Request::new(plan)
    };
    let first = snapshot.find(&request)?.hits;
    Ok(first.first().and_then(|hit| hit.score).unwrap_or(0.0))
}

/// Returns the order that `-S` asks for: upwards unless `-D` is given.
fn order(options: &Options, names: &FieldNames) -> Result<Order, Failure> {
    let Some(name) = &options.sort else {
        return Ok(Order::default());
    };
    let key = match fields::canonical(name) {
        "relevancyrating" => SortKey::Relevance,
        "url" | "rcludi" => SortKey::Path,
        "mtime" | "dmtime" => SortKey::DATE,
        "fmtime" => SortKey::Field(Field::Modified),
        "fbytes" | "dbytes" | "pcbytes" => SortKey::SIZE,
        "mtype" => SortKey::Field(Field::Mime),
        "recipient" => SortKey::Field(Field::To),
        name => match names.field(name).filter(|field| field.has_column()) {
            Some(field) => SortKey::Field(field),
            None => {
                complain(&format!(
                    "recollq: results cannot be sorted by \"{name}\"\n"
                ))?;
                return Ok(Order::default());
            }
        },
    };
    let downwards = match key {
        SortKey::Relevance => true,
        SortKey::Path => false,
        SortKey::Field(field) => field.is_number(),
    };
    Ok(Order {
        key,
        reverse: downwards != options.descending,
    })
}

/// Copies the file of a result to a path that does not exist yet.
fn extract(stored: &Stored, path: &PathBuf) -> Result<ExitCode, Failure> {
    if !stored.location.ipath.as_str().is_empty() {
        let place = output::clean(&stored.location.to_string()).into_owned();
        return complain(&format!(
            "recollq: {place} is a member of a file; ken copies only whole files\n"
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
    let copied = fs_err::File::open(&stored.location.path)
        .and_then(|mut source| io::copy(&mut source, &mut target));
    match copied {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(error) => complain(&format!("recollq: {error}\n")),
    }
}

/// What is needed to print results.
struct Printer<'a> {
    options: &'a Options,
    finder: Finder,
    best: f32,
}

impl Printer<'_> {
    fn hit(&self, out: &mut impl Write, stored: &Stored, hit: &Hit) -> io::Result<()> {
        if let Some(names) = &self.options.fields {
            return self.fields(out, stored, hit, names);
        }
        out_url(out, stored, self.options)?;
        if self.options.basic {
            out.write_all(b"\n")?;
        } else {
            let size = stored.document.number(Field::Size).unwrap_or(0);
            let title = output::title(&stored.document).unwrap_or_default();
            writeln!(out, "]\t[{}]\t{size}\tbytes\t", output::clean(title))?;
            if self.options.metadata {
                for (name, value) in fields::all(stored, self.rating(hit)) {
                    write!(out, "{name} = ")?;
                    out.write_all(&value)?;
                    out.write_all(b"\n")?;
                }
            }
            if self.options.abstracts {
                self.pieces(out, &stored.document.body)?;
            }
        }
        if self.options.contents {
            writeln!(out, "{}", stored.document.body)?;
        }
        Ok(())
    }

    /// Returns how good a hit is, in hundredths of the best.
    fn rating(&self, hit: &Hit) -> Option<u8> {
        let score = hit.score.filter(|_| self.best > 0.0)?;
        Some((score / self.best * 100.0).clamp(0.0, 100.0).round() as u8)
    }

    /// Prints the fields asked for, in base 64, in one line.
    fn fields(
        &self,
        out: &mut impl Write,
        stored: &Stored,
        hit: &Hit,
        names: &[String],
    ) -> io::Result<()> {
        let all = fields::all(stored, self.rating(hit));
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
    fn pieces(&self, out: &mut impl Write, body: &str) -> io::Result<()> {
        let count = match self.options.snippets {
            Some(Snippets::WithPages(count) | Snippets::WithLines(count)) => count,
            None => ABSTRACT_PIECES,
        };
        let settings = SnippetSettings {
            count,
            ..SnippetSettings::default()
        };
        let pieces = self.finder.fragments(body, settings);
        if pieces.is_empty() {
            return Ok(());
        }
        let place = |piece: &Fragment| match self.options.snippets {
            Some(Snippets::WithLines(_)) => piece.line,
            _ => piece.page.unwrap_or(0),
        };
        if self.options.snippets.is_none() {
            let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
            return writeln!(out, "ABSTRACT\n{}\n/ABSTRACT", texts.join(" ... "));
        }
        writeln!(out, "SNIPPETS")?;
        for piece in &pieces {
            writeln!(out, "{} : {}", place(piece), piece.text)?;
        }
        writeln!(out, "/SNIPPETS")
    }
}

fn out_url(out: &mut impl Write, stored: &Stored, options: &Options) -> io::Result<()> {
    if !options.basic {
        write!(out, "{}\t[", stored.document.media_type)?;
    }
    out.write_all(&fields::url(&stored.location.path, options.encode_urls))
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
