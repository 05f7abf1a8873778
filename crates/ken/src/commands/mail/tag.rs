//! `ken mail tag`: changes the tags of messages.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use ken_core::Field;
use ken_mail::{
    TagChange, Tagged, Tags, is_label, is_mu_labels, mu_labels, mu_labels_head, read_mu_labels,
};
use ken_pipeline::tags;
use ken_search::service::FacetValue;
use ken_search::service::mail::{MessageRequest, Which};

use super::{Mail, which_or_number};
use crate::cli::{Global, TagArgs, TagFormat};
use crate::commands::run_options::default_options;
use crate::commands::serve;
use crate::failure::{Failure, Kind};
use crate::output;

/// The most bytes of a list of tags.
const MAX_IMPORT_BYTES: u64 = 1 << 30;

pub(super) fn run(global: &Global, args: &TagArgs) -> Result<ExitCode, Failure> {
    if args.list {
        return list(&Mail::open(global)?);
    }
    if args.export {
        return export(&Mail::open(global)?, args.format);
    }
    if let Some(path) = &args.import {
        return import(global, path);
    }
    let (tags, query) = split(
        &args.arguments,
        "ken mail tag +todo -inbox from:anna; * means all messages",
    )?;
    let mail = Mail::open(global)?;
    let service = mail.service();
    let messages = service.messages(&MessageRequest {
        which: which_or_number(&service, query)?,
        ..MessageRequest::default()
    })?;
    let mut changes = Vec::with_capacity(messages.len());
    let mut n_nameless = 0;
    let mut ids = HashSet::new();
    messages.each_as_kept(&mut |_, message| match message.id() {
        "" => n_nameless += 1,
        // Duplicates of a message have the same tags.
        id if !ids.insert(id.to_owned()) => {}
        id => changes.push(TagChange::of_message(id.to_owned(), tags.clone())),
    })?;
    if n_nameless > 0 {
        output::warn(&format!(
            "{n_nameless} messages have no Message-ID, which a tag is kept by"
        ));
    }
    apply(global, &changes)?;
    output::remark(&match changes.len() {
        0 => "no message matches".to_owned(),
        1 => "1 message tagged".to_owned(),
        n => format!("{n} messages tagged"),
    });
    Ok(ExitCode::from(u8::from(changes.is_empty())))
}

/// Tags to add or remove, and the words of a query.
pub(in crate::commands) type Typed<'a> = (Vec<(String, bool)>, &'a [String]);

/// Splits the arguments of a command that changes tags, of which `example` is a use.
pub(in crate::commands) fn split<'a>(
    arguments: &'a [String],
    example: &str,
) -> Result<Typed<'a>, Failure> {
    let is_tag = |argument: &&String| argument.len() > 1 && argument.starts_with(['+', '-']);
    let n_tags = arguments
        .iter()
        .take_while(|argument| is_tag(argument) && *argument != "--")
        .count();
    let tags = arguments[..n_tags].iter();
    let tags: Vec<_> = tags
        .map(|argument| (argument[1..].to_owned(), argument.starts_with('+')))
        .collect();
    let query = &arguments[n_tags..];
    let query = match query.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => query,
    };
    if tags.is_empty() || query.is_empty() {
        let message = match tags.is_empty() {
            true => "there is no +tag or -tag before the query",
            false => "there is no query after the tags",
        };
        return Err(Failure::new(Kind::Usage, message.to_owned()).hint(example));
    }
    Ok((tags, query))
}

/// Writes changes to the log and adds them to the index.
pub(in crate::commands) fn apply(global: &Global, changes: &[TagChange]) -> Result<(), Failure> {
    if changes.is_empty() {
        return Ok(());
    }
    let options = default_options(global)?;
    tags::add(&options, changes)?;
    serve::bring_in_tags(global, &options)
}

fn list(mail: &Mail) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    for FacetValue { count, value } in mail.service().tags()?.items {
        text.push_str(&format!("{count:>8}  {}\n", output::clean(&value)));
    }
    output::print(text.as_bytes())?;
    Ok(ExitCode::from(u8::from(text.is_empty())))
}

fn export(mail: &Mail, format: TagFormat) -> Result<ExitCode, Failure> {
    let tagged = mail.service().messages(&MessageRequest {
        which: Which::Tagged,
        reverse: true,
        ..MessageRequest::default()
    })?;
    let mut n_left_out = 0;
    let mut text = match format {
        TagFormat::Notmuch => String::from("#notmuch-dump batch-tag:3 tags\n"),
        TagFormat::Mu => mu_labels_head(&output::time(mail.context.now.as_second())),
    };
    let mut entries = vec![String::new(); tagged.len()];
    tagged.each_as_kept(&mut |number, message| {
        let (id, tags) = (message.id(), message.texts(Field::Tag));
        if id.is_empty() {
            return;
        }
        if format == TagFormat::Mu {
            n_left_out += tags.iter().filter(|tag| !is_label(tag)).count();
            let labels = mu_labels(&message.location.path, id, &tags);
            entries[number] = labels.into_iter().collect();
            return;
        }
        let tags = tags.iter().map(|tag| ((*tag).to_owned(), true));
        let change = TagChange::of_message(id.to_owned(), tags.collect());
        entries[number] = format!("{change}\n");
    })?;
    text.extend(entries);
    if n_left_out > 0 {
        output::warn(&format!(
            "{n_left_out} tags are left out: mu's labels cannot contain commas"
        ));
    }
    output::print(text.as_bytes())?;
    Ok(ExitCode::from(u8::from(tagged.is_empty())))
}

fn import(global: &Global, path: &Path) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin()
            .take(MAX_IMPORT_BYTES)
            .read_to_string(&mut text)?;
    } else {
        let file = fs_err::File::open(path)?;
        file.take(MAX_IMPORT_BYTES).read_to_string(&mut text)?;
    }
    let mut changes = Vec::new();
    let mut n_wrong = 0;
    let replaces = !is_mu_labels(&text);
    let lines: Vec<(usize, Result<Option<TagChange>, String>)> = match replaces {
        false => {
            let lines = read_mu_labels(&text).into_iter();
            lines
                .map(|(number, read)| (number, read.map(Some)))
                .collect()
        }
        true => (1..).zip(text.lines().map(TagChange::read)).collect(),
    };
    for (number, read) in lines {
        match read {
            Ok(change) => changes.extend(change),
            Err(wrong) => {
                n_wrong += 1;
                output::warn(&format!("\"{}\":{number}: {wrong}", path.display()));
            }
        }
    }
    if replaces {
        changes = replacing(global, &changes)?;
    }
    apply(global, &changes)?;
    Ok(ExitCode::from(if n_wrong > 0 { 2 } else { 0 }))
}

/// Returns the changes after which each message has the tags that the list gives it and no others, as `notmuch restore`
/// does. Messages that are not in the list stay unchanged. Other documents gain and lose what the list says.
fn replacing(global: &Global, list: &[TagChange]) -> Result<Vec<TagChange>, Failure> {
    let mut wanted = Tags::default();
    list.iter().for_each(|change| wanted.take(change));
    let mut known: HashMap<String, HashSet<String>> = HashMap::new();
    let mut note = |id: &str, tag: &str| {
        known
            .entry(id.to_owned())
            .or_default()
            .insert(tag.to_owned());
    };
    let log = tags::Log::read(&default_options(global)?, (0, 0))?.tags;
    for id in log.ids() {
        let given = log.of(id).filter(|(_, is_given)| *is_given);
        given.for_each(|(tag, _)| note(id, tag));
    }
    let tagged = MessageRequest {
        which: Which::Tagged,
        ..MessageRequest::default()
    };
    let mail = Mail::open(global)?;
    mail.service()
        .messages(&tagged)?
        .each_as_kept(&mut |_, message| {
            let tags = message.texts(Field::Tag);
            tags.iter().for_each(|tag| note(message.id(), tag));
        })?;
    let mut changes = Vec::new();
    let mut seen = HashSet::new();
    for change in list {
        let Tagged::Message(id) = &change.on else {
            changes.push(change.clone());
            continue;
        };
        if !seen.insert(id) {
            continue;
        }
        let known = known.remove(id).unwrap_or_default();
        let given = wanted.of(id).filter(|(_, is_given)| *is_given);
        let given: Vec<&str> = given.map(|(tag, _)| tag).collect();
        let lost = known.iter().filter(|tag| !given.contains(&tag.as_str()));
        let mut lost: Vec<_> = lost.map(|tag| (tag.clone(), false)).collect();
        lost.sort();
        let new = given.iter().filter(|tag| !known.contains(**tag));
        let new = new.map(|tag| ((*tag).to_owned(), true));
        let tags: Vec<_> = new.chain(lost).collect();
        if !tags.is_empty() {
            changes.push(TagChange::of_message(id.clone(), tags));
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_stand_before_the_query() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        for (typed, tags, query) in [
            (
                "+a -b from:x y",
                vec![("a", true), ("b", false)],
                "from:x y",
            ),
            ("+a -- -b", vec![("a", true)], "-b"),
            ("-a *", vec![("a", false)], "*"),
        ] {
            let typed = words(typed);
            let (found, rest) = split(&typed, "").unwrap();
            let found: Vec<_> = found.iter().map(|(tag, given)| (&**tag, *given)).collect();
            assert_eq!((found, rest.join(" ")), (tags, query.to_owned()));
        }
        for wrong in ["from:x", "+a", "+a --", "+ x"] {
            assert!(split(&words(wrong), "").is_err(), "{wrong}");
        }
    }
}
