//! `/json` and `/csv`: answers as recoll-webui gives them, so that programs written for it, such as SearXNG's engine for
//! Recoll, work with ken unmodified. The keys are those of recoll-webui's `get_json` and `get_csv`.

use std::borrow::Cow;

use http::header::CONTENT_DISPOSITION;
use ken_core::{Document, Field, Value as FieldValue};
use ken_search::parse::Syntax;
use ken_search::service::{Hit, Reading, Request, path_text};
use serde_json::{Value, json};

use crate::answer::{Answer, Error, object, set, whole};
use crate::{Asked, Web};

/// The hits of a page, as recoll-webui's default.
const PER_PAGE: usize = 25;

/// The keys of a result in the order of recoll-webui.
const KEYS: [&str; 19] = [
    "abstract",
    "author",
    "collapsecount",
    "dbytes",
    "dmtime",
    "fbytes",
    "filename",
    "fmtime",
    "ipath",
    "keywords",
    "label",
    "mtime",
    "mtype",
    "origcharset",
    "relevancyrating",
    "sig",
    "size",
    "title",
    "url",
];

pub(crate) fn answer(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    super::only_the_user(asked)?;
    let page = asked.count("page")?.unwrap_or(1);
    let request = request(web, asked, page)?;
    let snapshot = web.at(asked, None)?;
    let service = web.service(asked, &*snapshot);
    let mut response = service.ask(&request)?;
    super::search::hide_scores(asked, &mut response);
    let results: Vec<Value> = response.hits.iter().map(result).collect();
    let total = response
        .total_groups
        .or(response.total)
        .unwrap_or(results.len());
    match asked.path.as_str() {
        "/csv" => Ok(csv(&results)),
        _ => Ok(object(&json!({
            "query": {
                "query": asked.get("query").unwrap_or_default(),
                "before": asked.get("before").unwrap_or_default(),
                "after": asked.get("after").unwrap_or_default(),
                "sort": asked.get("sort").unwrap_or("relevancyrating"),
                "ascending": is_ascending(asked),
                "page": page,
                "highlight": i32::from(is_on(asked.get("highlight"))),
                "dir": asked.get("dir").unwrap_or("<all>"),
                "snippets": i32::from(asked.get("snippets").is_none_or(|value| is_on(Some(value)))),
            },
            "nres": total,
            "results": results,
        }))),
    }
}

fn is_on(value: Option<&str>) -> bool {
    value.is_some_and(|value| !matches!(value, "" | "0" | "false"))
}

fn is_ascending(asked: &Asked) -> i32 {
    i32::from(is_on(asked.get("ascending")))
}

fn request(web: &Web, asked: &Asked, page: usize) -> Result<Request, Error> {
    let mut filters = Vec::new();
    if let Some(folder) = asked.get("dir").filter(|dir| !matches!(*dir, "" | "<all>")) {
        filters.push(format!("dir:\"{}\"", folder.replace('"', "")));
    }
    // As `YYYY-MM-DD`, or a part of it.
    let [after, before] = ["after", "before"].map(|name| asked.get(name).unwrap_or_default());
    for date in [after, before] {
        if !date.chars().all(|c| c.is_ascii_digit() || c == '-') {
            return Err(Error::wrong(format!(
                "\"{date}\" is no date such as 2026-11-26"
            )));
        }
    }
    if !(after.is_empty() && before.is_empty()) {
        filters.push(format!("date:{after}..{before}"));
    }
    let sort = match asked.get("sort").unwrap_or_default() {
        "mtime" | "fmtime" | "dmtime" => "date",
        "url" => "path",
        "filename" => "filename",
        "fbytes" | "dbytes" | "size" => "size",
        "title" => "title",
        "author" => "author",
        "mtype" => "mime",
        _ => "relevance",
    };
    // Page 0 asks for all, as recoll-webui does for CSV.
    let limit = match page {
        0 => MAX_HITS,
        _ => PER_PAGE,
    };
    let mut request = Request {
        query: asked.get("query").unwrap_or_default().to_owned(),
        syntax: Syntax::Recoll,
        reading: Reading::Operators,
        filters,
        sort: sort.to_owned(),
        // The service sorts numbers downwards, and all else upwards.
        reverse: matches!(sort, "relevance" | "date" | "size") == is_on(asked.get("ascending")),
        offset: page.saturating_sub(1).saturating_mul(PER_PAGE),
        limit: Some(limit),
        count: true,
        deadline_ms: web.setup.access.deadline_ms,
        ..Request::default()
    };
    if !asked.get("snippets").is_none_or(|value| is_on(Some(value))) {
        request.snippets.count = 0;
    }
    Ok(request)
}

/// The most hits of one answer.
const MAX_HITS: usize = 10_000;

/// Returns a result. Numbers are texts, and what is not known is empty, as in Recoll.
fn result(hit: &Hit) -> Value {
    let document = &hit.document;
    let text = |field| document.text(field).unwrap_or_default();
    let number = |field| document.number(field).map(|number| number.to_string());
    let (date, modified) = (number(Field::Date), number(Field::Modified));
    let time = document
        .number(Field::Date)
        .or(document.number(Field::Modified));
    let size = number(Field::Size);
    let text_bytes = hit.n_text_bytes.map(|bytes| bytes.to_string());
    json!({
        "abstract": text(Field::Description),
        "author": joined(document, Field::Author),
        "collapsecount": hit.more.filter(|more| *more > 0).map_or_else(String::new, |more| more.to_string()),
        "dbytes": text_bytes.as_deref().unwrap_or_default(),
        "dmtime": date.as_deref().filter(|_| date != modified).unwrap_or_default(),
        "fbytes": size.as_deref().unwrap_or_default(),
        "filename": text(Field::Filename),
        "fmtime": modified.as_deref().unwrap_or_default(),
        "ipath": hit.location.ipath.as_str(),
        "keywords": joined(document, Field::Keywords),
        "label": hit.title().map_or_else(|| path_text(&hit.location.path), Cow::Borrowed),
        "mtime": date.as_deref().or(modified.as_deref()).unwrap_or_default(),
        "mtype": document.media_type,
        "origcharset": "",
        "relevancyrating": "",
        "sha": hit.id,
        "sig": "",
        "size": text_bytes.as_deref().or(size.as_deref()).unwrap_or_default(),
        "snippet": hit.snippets.first().map(marked).unwrap_or_default(),
        "time": time.map(ken_search::service::time),
        "title": text(Field::Title),
        // With the characters of the path as they are: programs replace its beginning.
        "url": format!("file://{}", path_text(&hit.location.path)),
    })
}

fn joined(document: &Document, field: Field) -> String {
    let values = document.fields.iter().filter(|(of, _)| *of == field);
    let texts = values.filter_map(|(_, value)| match value {
        FieldValue::Text(text) => Some(text.as_str()),
        FieldValue::Number(_) => None,
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns a passage with its matches marked, as HTML.
fn marked(passage: &ken_search::snippet::Fragment) -> String {
    let mut html = String::new();
    let mut done = 0;
    for bytes in &passage.highlights {
        html.push_str(&escaped(&passage.text[done..bytes.start]));
        let marked = escaped(&passage.text[bytes.clone()]);
        html.push_str(&format!(
            "<span class=\"search-result-highlight\">{marked}</span>"
        ));
        done = bytes.end;
    }
    html.push_str(&escaped(&passage.text[done..]));
    html
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Returns results as a table (RFC 4180).
fn csv(results: &[Value]) -> Answer {
    let mut table = KEYS.join(",") + "\r\n";
    for result in results {
        let row = KEYS.map(|key| cell(result[key].as_str().unwrap_or_default()));
        table.push_str(&row.join(","));
        table.push_str("\r\n");
    }
    let mut answer = whole(200, "text/csv; charset=utf-8", table.into_bytes());
    set(
        &mut answer,
        CONTENT_DISPOSITION,
        "attachment; filename=recoll.csv",
    );
    answer
}

/// Returns a cell. A spreadsheet takes one that begins with these signs for a formula, which a foreign document must not
/// write.
fn cell(text: &str) -> String {
    let guard = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => "'",
        false => "",
    };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_text() {
        assert_eq!(cell("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(cell("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
    }
}
