//! The meaning of TeX and LaTeX commands and environments for the text.

use ken_core::Field;

/// The effect of a command on the text after it.
#[derive(Clone, Copy)]
pub(super) enum Command {
    /// A number of arguments that are not text.
    Skipped(usize),
    /// `\def`
    Definition,
    /// The argument is a separate line.
    Heading,
    /// An argument that is a separate line but no heading.
    Caption,
    /// The argument is a note.
    Note,
    /// The argument is the value of a field.
    Value(Field),
    Begin,
    End,
    /// A new line.
    Line,
    /// Between authors.
    And,
    /// `\verb`
    Verbatim,
    /// `\href`: an address and its label.
    Link,
    /// `\item`, whose option is text.
    Item,
    /// The first of two arguments is text, the second another form of it.
    First,
    /// The head of a table, which `\endhead` ends and pages repeat.
    RepeatedHead,
    /// `\hypersetup`
    Setup,
    /// The end of the file.
    Ends,
    /// A layout command, which is not a word of a formula either.
    Layout,
    Unknown,
}

#[rustfmt::skip] // a table reads better as one
pub(super) fn command(name: &str) -> Command {
    match name {
        "begin" => Command::Begin,
        "end" => Command::End,
        "title" => Command::Value(Field::Title),
        "author" => Command::Value(Field::Author),
        "date" => Command::Value(Field::Date),
        "keywords" => Command::Value(Field::Keywords),
        "and" | "And" | "AND" => Command::And,
        "hypersetup" => Command::Setup,
        "part" | "chapter" | "section" | "subsection" | "subsubsection" | "paragraph"
        | "subparagraph" | "frametitle" | "framesubtitle" | "subtitle" | "minisec" | "addchap"
        | "addsec" => Command::Heading,
        "caption" | "subject" | "bibitem" => Command::Caption,
        "footnote" | "footnotetext" | "marginpar" | "thanks" | "endnote" | "sidenote" => Command::Note,
        "item" => Command::Item,
        "href" => Command::Link,
        "texorpdfstring" => Command::First,
        "endfirsthead" => Command::RepeatedHead,
        "par" | "newline" | "newpage" | "clearpage" | "cleardoublepage" | "pagebreak"
        | "linebreak" | "medskip" | "bigskip" | "smallskip" | "maketitle" | "noindent" | "hline"
        | "toprule" | "midrule" | "bottomrule" | "cr" | "tabularnewline" | "frame" | "endhead"
        | "endfoot" | "endlastfoot" => Command::Line,
        "verb" | "lstinline" => Command::Verbatim,
        "endinput" | "bye" => Command::Ends,
        "def" | "gdef" | "edef" | "xdef" => Command::Definition,
        "label" | "ref" | "eqref" | "pageref" | "autoref" | "cref" | "Cref" | "nameref" | "vref"
        | "usepackage" | "RequirePackage" | "documentclass" | "LoadClass" | "documentstyle"
        | "input" | "include" | "includeonly" | "includegraphics" | "bibliographystyle" | "cline"
        | "bibliography" | "addbibresource" | "pagestyle" | "thispagestyle" | "pagenumbering"
        | "vspace" | "hspace" | "vskip" | "hskip" | "color" | "pagecolor" | "selectlanguage"
        | "hypertarget" | "hyperlink" | "phantom" | "vphantom" | "hphantom" | "geometry"
        | "usetikzlibrary" | "usetheme" | "usecolortheme" | "graphicspath" | "theoremstyle"
        | "textcolor" | "colorbox" | "fontfamily" | "fontencoding" | "fontseries" | "fontshape"
        | "cmidrule" | "hyphenation" | "stepcounter" | "refstepcounter" | "newcounter" | "index"
        | "foreignlanguage" | "newlength" | "ProvidesPackage" | "ProvidesFile" | "special"
        | "IfFileExists" | "setmainfont" | "setsansfont" | "setmonofont" | "DeclareUnicodeCharacter"
        | "multirow" | "lstset" | "tikzset" | "pgfplotsset" | "bibinfo" | "setlist" => Command::Skipped(1),
        "newcommand" | "renewcommand" | "providecommand" | "DeclareRobustCommand" | "setlength"
        | "addtolength" | "setcounter" | "addtocounter" | "newtheorem" | "DeclareMathOperator"
        | "definecolor" | "rule" | "multicolumn" | "raisebox" | "fontsize" | "resizebox"
        | "newsavebox" | "newcolumntype" | "pdfbookmark" | "sisetup" | "titleformat" => Command::Skipped(2),
        "newenvironment" | "renewenvironment" | "addcontentsline" | "titlespacing" => Command::Skipped(3),
        "left" | "right" | "big" | "Big" | "bigg" | "Bigg" | "frac" | "dfrac" | "tfrac" | "mathrm"
        | "mathbf" | "mathit" | "mathsf" | "mathtt" | "mathcal" | "mathbb" | "mathfrak" | "text"
        | "textrm" | "textbf" | "textit" | "mbox" | "operatorname" | "limits" | "nolimits" | "displaystyle"
        | "textstyle" | "quad" | "qquad" | "hat" | "bar" | "vec" | "tilde" | "dot" | "ddot" | "overline"
        | "underline" | "widehat" | "widetilde" | "nonumber" | "notag" | "boldsymbol" | "mid" | "bigl"
        | "bigr" | "Bigl" | "Bigr" | "stackrel" | "over" | "rm" | "bf" | "it" | "cal" | "middle" => Command::Layout,
        _ => Command::Unknown,
    }
}

/// Returns the number of arguments of an environment that are not text.
pub(super) fn environment(name: &str) -> usize {
    match name {
        "tabular" | "array" | "longtable" | "minipage" | "multicols" | "thebibliography"
        | "supertabular" | "xltabular" | "adjustbox" | "spacing" | "list" | "columns"
        | "column" | "alignat" => 1,
        "tabularx" | "tabulary" | "wrapfigure" | "picture" => 2,
        _ => 0,
    }
}

pub(super) fn is_verbatim(name: &str) -> bool {
    matches!(
        name,
        "verbatim" | "Verbatim" | "lstlisting" | "minted" | "comment" | "alltt" | "filecontents"
    )
}

pub(super) fn is_formula(name: &str) -> bool {
    matches!(
        name,
        "equation"
            | "align"
            | "displaymath"
            | "math"
            | "eqnarray"
            | "gather"
            | "multline"
            | "flalign"
            | "alignat"
            | "split"
            | "cases"
            | "matrix"
            | "pmatrix"
            | "bmatrix"
    )
}
