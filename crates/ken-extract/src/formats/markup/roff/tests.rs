//! Tests of manual pages and other troff documents.

use ken_core::{Field, Kind};

use super::*;
use crate::detect::Detected;
use crate::testing::{Extracted, run, survives};

const ROFF: Detected = Detected {
    media_type: "text/troff",
    kind: Kind::Document,
};
const SURVEY: &[u8] = include_bytes!("../../../../tests/data/text/survey.7");

#[test]
fn conditions_within_each_other_do_not_use_up_the_stack() {
    for nest in [".el ", ".while n ", ".if n \\{", "\\{"] {
        let line = format!(".if n {}.B deep\nafter\n", nest.repeat(500_000));
        assert!(read(&line).own().failure.is_none());
        let line = format!("{}.B deep\n", nest.repeat(500_000));
        assert!(read(&line).own().failure.is_none());
    }
    assert_eq!(read(".if n \\{.while n .B text\n.\\}\n").own().body, "text");
}

fn read(text: &str) -> Extracted {
    run(extract, ROFF, "a.1", text.as_bytes())
}

#[test]
fn a_manual_page_loses_its_macros() {
    let found = read(
        ".\\\" A comment\n.TH KELP 1 \"February 29, 2024\" \"ken\"\n.SH NAME\nkelp, kelpd \\- grow \
         \\fIunder\\fP water\n.SH \"SEE ALSO\"\n.TP\n.BR \\-d \", \" \\-\\-depth =\\fIm\\fR\nHow deep.\n\
         .IP \\(bu 2\nAn item\n.nf\nkept\n  lines\n.fi\n.B bold \"and more\"\ntext\n.PP\nna\\[i :]ve \
         caf\\('e \\(co \\[u00FC]\\s-2small\\s0 \\*(lqq\\*(rq \\h'2n'end\\\" comment\n",
    );
    let own = found.own();
    assert_eq!(own.text(Field::Title), Some("KELP(1)"));
    assert_eq!(own.text(Field::Headings), Some("NAME"));
    assert_eq!(own.text(Field::Description), Some("grow under water"));
    assert_eq!(own.number(Field::Date), Some(1_709_164_800));
    assert_eq!(
        own.body,
        "NAME\nkelp, kelpd - grow under water\nSEE ALSO\n-d, --depth=m How deep.\n• An item\nkept\n\
         lines\nbold and more text\nnave café © üsmall “q” end"
    );
}

#[test]
fn mdoc_has_macros_among_words() {
    let found = read(
        ".Dd $Mdocdate: February 29 2024 $\n.Dt KELP 1\n.Os\n.Sh NAME\n.Nm kelp\n.Nd grow under water\n\
         .Sh SYNOPSIS\n.Nm\n.Op Fl d Ar depth\n.Sh DESCRIPTION\nThe\n.Nm\nutility; see\n.Xr ls 1 ,\n\
         .Pa /etc/kelp .\n.Bl -tag -width Ds\n.It Fl v\nTalk.\n.El\n",
    );
    let own = found.own();
    assert_eq!(own.text(Field::Title), Some("KELP(1)"));
    assert_eq!(own.text(Field::Description), Some("grow under water"));
    assert_eq!(own.number(Field::Date), Some(1_709_164_800));
    assert_eq!(
        own.body,
        "NAME\nkelp – grow under water\nSYNOPSIS\nkelp -d depth\nDESCRIPTION\n\
         The kelp utility; see ls(1), /etc/kelp.\n-v Talk."
    );
}

#[test]
fn definitions_conditions_and_tables() {
    let found = read(
        ".de XX\nhidden\n..\n.ds C+ C\\v'-.1v'++\n.ie n \\{\\\n.ds -- \\-\\-\n'br\\}\n.el\\{\\\n.ds -- em\n\
         hidden too\n'br\\}\n.if t hidden\n.if n seen\n.IX Title \"hidden\"\n\\*(C+ \\*(--\n.TS\ntab(@);\n\
         l l.\nname@T{\ndepth\nT}\n_\nkelp@3\n.TE\n.ig\nhidden\n..\nend\n",
    );
    assert_eq!(found.own().body, "seen C++ --\nname\ndepth\nkelp\t3\nend");
}

#[test]
fn papers_have_title_and_author() {
    let found = read(".TL\nOn kelp\n.AU\nYlva Strand\n.NH\nDeep\n.PP\ntext\n");
    assert_eq!(found.own().text(Field::Title), Some("On kelp"));
    assert_eq!(found.own().text(Field::Author), Some("Ylva Strand"));
}

#[test]
fn strings_cannot_grow_without_end() {
    let mut text = String::from(".ds a 0123456789\n");
    for _ in 0..100 {
        text.push_str(".ds a \\*a\\*a\\*a\\*a\n");
    }
    text.push_str("\\*a\n");
    assert!(read(&text).own().body.len() <= 250);
    assert_eq!(read(&".if n ".repeat(100_000)).own().body, "");
}

#[test]
fn hostile_pages_are_survived() {
    let found = run(extract, ROFF, "survey.7", SURVEY);
    assert!(
        found
            .own()
            .body
            .contains("The lumpsucker clings to kelp & stone"),
        "{}",
        found.own().body
    );
    survives(extract, ROFF, "survey.7", SURVEY);
}

#[test]
fn headings_authors_and_tables_of_ms() {
    let found = read(
        ".TL\nKelp\n.AU\nAnn\n.AU\nBob\n.AU\n2024-02-29\n.SH 1\nThe frond\n.NH 2\nIts edge\n.TS\ntab(@);\nl r.\n\
         T{\nOne\nT}@T{\nTwo\nT}\nthree@four\n.TE\nend\n",
    );
    let own = found.own();
    let authors = own
        .fields
        .iter()
        .filter(|(field, _)| *field == Field::Author);
    assert_eq!(authors.count(), 2);
    assert_eq!(own.number(Field::Date), Some(1_709_164_800));
    assert_eq!(
        own.body,
        "Kelp Ann Bob 2024-02-29\nThe frond\nIts edge\nOne\nTwo\nthree\tfour\nend"
    );
}
