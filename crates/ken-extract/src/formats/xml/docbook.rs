//! DocBook 4 and 5 (<https://tdg.docbook.org/>): books, articles and manual pages in XML.
//!
//! Chapters and similar elements are sections of the text; the root's `info` yields fields.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("DocBook", &["application/docbook+xml"], extract)
        .fields(&[
            Field::Title,
            Field::Headings,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Lang,
            Field::Date,
        ])
        .sections("chapters")
        .version(2);

const DIALECT: Dialect = Dialect {
    role,
    is_text: super::no_attribute,
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(path: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    let name = tag.name();
    // Only the root's: chapters have authors and dates of their own.
    let n_open = path.split_terminator('/').take(4).count();
    if (n_open == 2 || n_open == 3)
        && is_info(path)
        && let Some(role) = of_info(path, name)
    {
        return role;
    }
    match name {
        "title" if n_open == 1 => Role::Heading(Field::Title),
        "title" if n_open > 1 => Role::Heading(Field::Headings),
        "chapter" | "appendix" | "preface" | "part" | "glossary" | "bibliography" | "refentry"
        | "article"
            if n_open > 0 =>
        {
            Role::Section
        }
        "colophon" | "imagedata" | "videodata" | "audiodata" => Role::Skip,
        "row" | "tr" => Role::Row,
        "entry" | "td" | "th" => Role::Cell,
        _ if is_inline(name) => Role::Inline,
        _ => Role::Line,
    }
}

fn is_info(path: &str) -> bool {
    path.split_terminator('/').nth(1).is_some_and(|element| {
        element.ends_with("info") || element == "refmeta" || element == "refnamediv"
    })
}

fn of_info(path: &str, name: &str) -> Option<Role> {
    Some(match name {
        "title" => Role::Heading(Field::Title),
        "refentrytitle" => Role::Heading(Field::Title),
        "refpurpose" => Role::Heading(Field::Description),
        "author" | "editor" | "othercredit" | "corpauthor" => Role::Words(Field::Author),
        "authorgroup" | "keywordset" | "subjectset" => Role::Inline,
        "keyword" if path.ends_with("keywordset/") => Role::Value(Field::Keywords),
        "abstract" => Role::Words(Field::Description),
        "date" | "pubdate" => Role::Date(Field::Date),
        _ => return None,
    })
}

/// Returns whether an element occurs within a sentence; others are blocks.
fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "abbrev"
            | "accel"
            | "acronym"
            | "anchor"
            | "application"
            | "arg"
            | "citation"
            | "citerefentry"
            | "citetitle"
            | "classname"
            | "code"
            | "command"
            | "computeroutput"
            | "constant"
            | "database"
            | "date"
            | "email"
            | "emphasis"
            | "envar"
            | "errorcode"
            | "errorname"
            | "exceptionname"
            | "fieldsynopsis"
            | "filename"
            | "firstname"
            | "firstterm"
            | "foreignphrase"
            | "funcdef"
            | "function"
            | "glossterm"
            | "group"
            | "guibutton"
            | "guiicon"
            | "guilabel"
            | "guimenu"
            | "guimenuitem"
            | "guisubmenu"
            | "hardware"
            | "honorific"
            | "indexterm"
            | "inlineequation"
            | "inlinemediaobject"
            | "interface"
            | "interfacename"
            | "keycap"
            | "keycode"
            | "keycombo"
            | "keysym"
            | "link"
            | "literal"
            | "manvolnum"
            | "markup"
            | "mathphrase"
            | "menuchoice"
            | "methodname"
            | "mousebutton"
            | "olink"
            | "option"
            | "optional"
            | "orgname"
            | "othername"
            | "package"
            | "paramdef"
            | "parameter"
            | "personname"
            | "phrase"
            | "primary"
            | "productname"
            | "productnumber"
            | "prompt"
            | "property"
            | "quote"
            | "refentrytitle"
            | "remark"
            | "replaceable"
            | "returnvalue"
            | "sgmltag"
            | "shortcut"
            | "structfield"
            | "structname"
            | "subscript"
            | "superscript"
            | "surname"
            | "symbol"
            | "synopfragmentref"
            | "systemitem"
            | "tag"
            | "termdef"
            | "textobject"
            | "token"
            | "trademark"
            | "type"
            | "ulink"
            | "uri"
            | "userinput"
            | "varname"
            | "wordasword"
            | "xref"
            | "year"
    )
}
