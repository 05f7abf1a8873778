//! Texinfo (<https://www.gnu.org/software/texinfo/>): the text without its commands.
//!
//! A command at the start of a line applies to the line or a block; other commands have their
//! argument in braces. Chapters are sections of the text. Blocks for only one output format, and
//! menus, are left out.

use ken_core::{Document, Field};

use crate::input::text::read;
use crate::output::Output;
use crate::output::body::Body;
use crate::output::first_values::FirstValues;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("Texinfo", &["text/x-texinfo"], extract)
    .fields(&[Field::Title, Field::Headings, Field::Author, Field::Lang])
    .sections("chapters")
    .version(3)
    .streams();

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (text, result) = read(input, output.limits())?;
    let mut body = Body::new(output.limits().max_text_bytes);
    let mut first = FirstValues::default();
    let mut skipped: Option<&str> = None;
    for line in text.lines() {
        let command = line.trim_start().strip_prefix('@').map(split_command);
        match (skipped, command) {
            (Some(block), Some(("end", name))) if name.trim() == block => skipped = None,
            (Some(_), _) => {}
            (None, Some(("bye", _))) => break,
            (None, None) if line.starts_with("\\input") => {}
            (None, Some((name, _))) if is_skipped(name) => skipped = Some(name),
            (None, Some((name, rest))) if is_line(name) => {
                line_command(name, rest, &mut first, output.own(), &mut body);
            }
            (None, _) => text_line(line, &mut body),
        }
        if body.is_full() {
            break;
        }
    }
    body.finish_into(output.own());
    result
}

fn split_command(line: &str) -> (&str, &str) {
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    let end = line.find(|c| !is_letter(c)).unwrap_or(line.len());
    line.split_at(end)
}

/// Returns whether a block is not text of the manual.
fn is_skipped(name: &str) -> bool {
    matches!(
        name,
        "ignore"
            | "tex"
            | "html"
            | "iftex"
            | "ifhtml"
            | "ifxml"
            | "ifdocbook"
            | "xml"
            | "docbook"
            | "menu"
            | "detailmenu"
            | "macro"
            | "rmacro"
            | "direntry"
            | "ifset"
            | "latex"
            | "iflatex"
    )
}

/// Returns whether a command applies to its line; all others may begin a line of text.
fn is_line(name: &str) -> bool {
    is_heading(name)
        || matches!(
            name,
            "c" | "comment"
                | "settitle"
                | "title"
                | "subtitle"
                | "author"
                | "node"
                | "end"
                | "item"
                | "itemx"
                | "set"
                | "clear"
                | "include"
                | "setfilename"
                | "documentlanguage"
                | "documentencoding"
                | "cindex"
                | "findex"
                | "vindex"
                | "kindex"
                | "pindex"
                | "tindex"
                | "syncodeindex"
                | "synindex"
                | "printindex"
                | "contents"
                | "page"
                | "need"
                | "sp"
                | "vskip"
                | "top"
                | "itemize"
                | "enumerate"
                | "table"
                | "ftable"
                | "vtable"
                | "multitable"
                | "columnfractions"
                | "quotation"
                | "example"
                | "smallexample"
                | "display"
                | "format"
                | "lisp"
                | "titlepage"
                | "copying"
                | "insertcopying"
                | "ifnottex"
                | "ifnothtml"
                | "ifinfo"
                | "ifplaintext"
                | "group"
                | "noindent"
                | "dircategory"
                | "defindex"
                | "defcodeindex"
                | "finalout"
                | "paragraphindent"
                | "headitem"
                | "tab"
                | "anchor"
                | "setchapternewpage"
        )
        || name.starts_with("def")
}

fn is_heading(name: &str) -> bool {
    is_chapter(name)
        || matches!(
            name,
            "section"
                | "subsection"
                | "subsubsection"
                | "heading"
                | "subheading"
                | "majorheading"
                | "unnumberedsec"
                | "unnumberedsubsec"
                | "appendixsec"
                | "appendixsubsec"
                | "chapheading"
                | "subsubheading"
                | "unnumberedsubsubsec"
        )
}

fn is_chapter(name: &str) -> bool {
    matches!(name, "chapter" | "appendix" | "unnumbered")
}

fn line_command(
    name: &str,
    rest: &str,
    first: &mut FirstValues,
    document: &mut Document,
    body: &mut Body,
) {
    let plain = plain(rest);
    match name {
        "settitle" => document.add_text(Field::Title, &plain),
        "title" => {
            first.add_text(document, Field::Title, &plain);
            body.line(plain.trim());
        }
        "author" => {
            document.add_text(Field::Author, &plain);
            body.line(plain.trim());
        }
        "documentlanguage" => document.add_text(Field::Lang, &plain),
        "chapter" | "appendix" | "unnumbered" => {
            body.end_paragraph();
            body.break_page();
            body.heading(plain.trim());
        }
        "item" | "itemx" | "headitem" | "tab" | "subtitle" | "quotation" => {
            body.end_paragraph();
            body.push_folded(&plain);
            body.push_folded(" ");
        }
        _ if is_heading(name) => body.heading(plain.trim()),
        _ if name.starts_with("deff")
            || name.starts_with("defun")
            || name.starts_with("defv")
            || name.starts_with("deft")
            || name.starts_with("defm")
            || name.starts_with("defo")
            || name.starts_with("defs") =>
        {
            body.line(plain.trim());
        }
        "noindent" => body.push_folded(&plain),
        _ => body.end_paragraph(),
    }
}

fn text_line(line: &str, body: &mut Body) {
    if line.trim().is_empty() {
        return body.end_paragraph();
    }
    body.push_folded(&plain(line));
    body.push_folded(" ");
}

/// Returns a line without its commands: braces are removed, most arguments stay.
fn plain(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['@', '{', '}']) {
        plain.push_str(&rest[..at]);
        let is_command = rest.as_bytes()[at] == b'@';
        rest = &rest[at + 1..];
        if is_command {
            rest = command(rest, &mut plain);
        }
    }
    plain.push_str(rest);
    plain
}

/// Handles the command after an `@`; returns the rest.
fn command<'t>(rest: &'t str, plain: &mut String) -> &'t str {
    let (name, after) = split_command(rest);
    if name.is_empty() {
        return sign(rest, plain);
    }
    let printed = match name {
        "dots" | "enddots" => "…",
        "copyright" => "©",
        "registeredsymbol" => "®",
        "bullet" => "•",
        "minus" => "-",
        "ss" => "ß",
        "ae" => "æ",
        "o" => "ø",
        "aa" => "å",
        "result" => "⇒",
        "equiv" => "≡",
        "error" => "error",
        "print" => "⊣",
        "tie" | "footnote" => " ",
        "TeX" => "TeX",
        "LaTeX" => "LaTeX",
        // References to values, positions and indices print no words of this file.
        "value" | "anchor" | "image" => return after.split_once('}').map_or("", |(_, rest)| rest),
        "c" | "comment" => return "",
        _ => "",
    };
    plain.push_str(printed);
    // Arguments of references are separated by commas and count as words.
    after.strip_prefix('{').unwrap_or(after)
}

/// Handles `@@`, `@{`, `@'e`, `@,{c}` and `@*`.
fn sign<'t>(rest: &'t str, plain: &mut String) -> &'t str {
    let Some(sign) = rest.chars().next() else {
        return rest;
    };
    let after = &rest[sign.len_utf8()..];
    let (accent, argument) = match sign {
        ',' => ("c", after),
        '\'' | '`' | '^' | '"' | '~' | '=' => (&rest[..1], after),
        '@' | '{' | '}' | '&' => {
            plain.push(sign);
            return after;
        }
        '*' | ' ' | '\t' | '\n' => {
            plain.push(' ');
            return after;
        }
        _ => return after,
    };
    match crate::formats::markup::tex::accented(accent, argument) {
        Some((letter, length)) => {
            plain.push_str(&letter);
            &argument[length..]
        }
        None => after,
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const TEXINFO: Detected = Detected {
        media_type: "text/x-texinfo",
        kind: Kind::Document,
    };
    const SURVEY: &[u8] = include_bytes!("../../../tests/data/text/survey.texi");

    #[test]
    fn chapters_and_fields() {
        let text = "\\input texinfo\n@settitle Knots @& bends\n@documentlanguage en\n@titlepage\n\
            @author Ida Berg\n@end titlepage\n@c hidden\n@node Top\n@top\n@ifhtml\nhidden\n@end ifhtml\n\
            @menu\n* hidden::\n@end menu\n@chapter The @emph{bowline}\nIt is @code{tied} by na@\"{i}ve\n\
            gar@,{c}ons@dots{} @@home.\n\n@itemize @bullet\n@item one @c hidden\n@end itemize\n\
            @chapter Bends\n@deffn Command bend x\nSee @ref{Top, , the start}.\n@end deffn\n@bye\nnever\n";
        let found = run(extract, TEXINFO, "a.texi", text.as_bytes());
        let own = found.own();
        assert_eq!(own.text(Field::Title), Some("Knots & bends"));
        assert_eq!(own.text(Field::Author), Some("Ida Berg"));
        assert_eq!(own.text(Field::Lang), Some("en"));
        assert_eq!(
            own.body,
            "Ida Berg\u{c}The bowline\nIt is tied by naïve garçons… @home.\none\u{c}Bends\n\
             Command bend x\nSee Top, , the start."
        );
    }

    #[test]
    fn notes_are_no_part_of_the_word() {
        let found = run(
            extract,
            TEXINFO,
            "a.texi",
            b"@node Top\nknots@footnote{Of rope.} hold\n",
        );
        assert_eq!(found.own().body, "knots Of rope. hold");
    }

    #[test]
    fn more_authors_than_any_manual_has_are_a_failure() {
        let authors = "@author a\n".repeat(20_000);
        let text = format!("{authors}{}kelp\n", "@title b\n".repeat(2_000));
        let found = run(extract, TEXINFO, "a.texi", text.as_bytes());
        let own = found.own();
        assert!(own.body.ends_with("kelp"));
        assert!(
            own.failure
                .as_ref()
                .is_some_and(|failure| failure.reason() == Reason::Limit)
        );
        assert_eq!(own.text(Field::Filename), Some("a.texi"));
    }

    #[test]
    fn hostile_manuals_are_survived() {
        let found = run(extract, TEXINFO, "survey.texi", SURVEY);
        let body = &found.own().body;
        assert!(
            body.contains("The lumpsucker clings to kelp & stone"),
            "{body}"
        );
        assert_eq!(found.own().text(Field::Title), Some("Fjord survey"));
        survives(extract, TEXINFO, "survey.texi", SURVEY);
    }
}
