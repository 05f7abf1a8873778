//! Tests of texts without their commands.

use ken_core::{Field, Kind, Value};

use super::*;
use crate::detect::Detected;
use crate::testing::{Extracted, run, survives};

const TEX: Detected = Detected {
    media_type: "text/x-tex",
    kind: Kind::Document,
};
const SURVEY: &[u8] = include_bytes!("../../../../tests/data/text/survey.tex");

fn read(text: &str) -> Extracted {
    run(extract, TEX, "a.tex", text.as_bytes())
}

fn body(text: &str) -> String {
    read(text).own().body.clone()
}

#[test]
fn a_paper_has_title_authors_and_abstract() {
    let found = read(
        "\\documentclass[a4paper]{article}\n\\usepackage{babel}\n\\newcommand{\\kelp}[1]{\\emph{#1}}\n\
         \\title{On \\emph{kelp} \\& sea}\n\\author{Ylva Strand\\thanks{paid} \\and J\\\"urgen M\\\"uller}\n\
         \\date{29 February 2024}\n\\hypersetup{pdfkeywords={tides, kelp}}\n\\begin{document}\n\\maketitle\n\
         \\begin{abstract}\nShort and\nsweet.\n\\end{abstract}\n\n\\section[x]{Deep \\textbf{water}}\\label{sec:a}\n\
         Text% comment\n more, see~\\ref{sec:a}.\\footnote{A note.} Done.\n\\end{document}\nnever\n",
    );
    let own = found.own();
    assert_eq!(own.failure, None);
    assert_eq!(own.text(Field::Title), Some("On kelp & sea"));
    assert_eq!(own.text(Field::Headings), Some("Deep water"));
    let authors: Vec<_> = own
        .fields
        .iter()
        .filter(|(field, _)| *field == Field::Author)
        .collect();
    assert_eq!(authors.len(), 2, "{authors:?}");
    assert_eq!(authors[1].1, Value::Text("Jürgen Müller".into()));
    assert_eq!(own.number(Field::Date), Some(1_709_164_800));
    assert_eq!(own.text(Field::Keywords), Some("tides"));
    assert_eq!(own.text(Field::Description), Some("Short and sweet."));
    assert_eq!(
        own.body,
        "Short and sweet.\nDeep water\nTextmore, see . Done.\nA note."
    );
}

#[test]
fn accents_and_symbols_become_characters() {
    assert_eq!(
        body(
            "Sch\\\"on, na\\\"{\\i}ve caf\\'{e} \\v{c}e\\v s \\c{c}a \\o re \\ss\\ \\aa{}l \\L\\'od\\'z"
        ),
        "Schön, naïve café češ ça øre ß ål Łódź"
    );
    assert_eq!(
        body("``quoted'' `x' a---b 1--2 100\\% \\{x\\} \\TeX{}"),
        "“quoted” ‘x’ a—b 1–2 100% {x} TeX"
    );
}

#[test]
fn formulas_are_words() {
    assert_eq!(
        body("If $\\alpha + x_i \\leq \\frac{a}{b}$ then \\(E = mc^2\\).\n\\begin{align}\n\\sum_{k} k &= 1\n\\end{align}\n")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
        "If alpha + x i ≤ a b then E = mc^2 . sum k k = 1"
    );
}

#[test]
fn tables_lists_and_listings_are_lines() {
    assert_eq!(
        body(
            "\\begin{tabular}{l|r}\na & b \\\\[2pt]\n\\hline\nc & \\multicolumn{2}{c}{d} \\\\\n\\end{tabular}\n\
              \\begin{itemize}\n\\item one\n\\item[x] two\n\\end{itemize}\n\\begin{verbatim}\n\\raw{ text }\n\
              \\end{verbatim}\nRun \\verb|a_b \\c|.\n\\def\\x#1{hidden}\n\\begin{comment}no\\end{comment}end"
        ),
        "a\tb\nc\td\none\nx two\n\\raw{ text }\nRun a_b \\c.\nend"
    );
}

#[test]
fn what_is_never_closed_ends_with_its_paragraph() {
    let found = read("\\title{Open\n\ntext \\label{a\n\nhidden}shown");
    assert_eq!(found.own().text(Field::Title), None);
    assert!(found.own().body.contains("shown"), "{}", found.own().body);
    read(&"\\title{".repeat(100_000));
    read(&"\\footnote{x".repeat(100_000));
    read(&"\\section[".repeat(100_000));
    assert_eq!(plain("{\\em x} \\url{http://a.b/c_d}"), "x http://a.b/c_d");
}

#[test]
fn hostile_texts_are_survived() {
    let found = run(extract, TEX, "survey.tex", SURVEY);
    let own = found.own();
    assert!(
        own.body
            .contains("The lumpsucker clings to kelp & stone — a naïve fish."),
        "{}",
        own.body
    );
    assert_eq!(own.text(Field::Title), Some("Fjord survey"));
    assert_eq!(own.text(Field::Author), Some("Ylva Strand"));
    assert_eq!(own.number(Field::Date), Some(1_709_164_800));
    assert_eq!(
        own.text(Field::Description),
        Some("A short survey of the fjord.")
    );
    survives(extract, TEX, "survey.tex", SURVEY);
}

#[test]
fn commands_that_look_ahead_do_not_look_far() {
    // Each of them looks for its closing quote, which never comes.
    let quotes = ('\u{4e00}'..='\u{9fff}').chain('\u{20000}'..='\u{2a6df}');
    let quoted: String = quotes.map(|quote| format!("\\verb{quote}")).collect();
    assert!(!read(&quoted).own().body.is_empty());
    let setup = format!(
        "{}pdftitle={{{}}}",
        "\\hypersetup".repeat(90),
        "x".repeat(900)
    );
    let titles = read(&setup.repeat(100));
    assert!(titles.own().fields.len() < 100);
}

#[test]
fn labels_links_and_forms_for_bookmarks() {
    assert_eq!(
        body(
            "\\section{\\texorpdfstring{On \\emph{kelp}}{On kelp}}\nSee \\href{https://a.b/c\\_d}{the page}s and \
             \\href{https://e.f}{\\nolinkurl{https://e.f}}.\n\n\\begin{description}\\item[Frond] a leaf\
             \\end{description}\\begin{longtable}{l}\nHead \\\\\n\\endfirsthead\nHead \\\\\n\\endhead\nrow\\\\\n\
             \\end{longtable}"
        ),
        "On kelp\nSee the pages and https://e.f.\nhttps://a.b/c_d\nFrond a leaf\nHead\nrow"
    );
    assert_eq!(
        body(
            "\\begin{longtable}{l}\nHead \\\\\n\\endfirsthead\nrow\\\\\n\\end{longtable}\\begin{longtable}{l}\n\
             Other \\\\\n\\endhead\nlast\\\\\n\\end{longtable}"
        ),
        "Head\nrow\nOther\nlast"
    );
    read(&"\\item[\\item[".repeat(100_000));
    read(&"\\texorpdfstring{".repeat(100_000));
    read(&"\\href{".repeat(100_000));
}
