//! Collects metadata that a file states more than once, in several standards, and keeps each value
//! once.
//!
//! A picture may hold its caption as EXIF, IPTC and XMP; a song may hold its artist in two versions
//! of ID3. The first title counts; captions, authors and keywords are all kept if they differ.

use std::collections::HashSet;

use ken_core::{Document, Field, Value};

use crate::date;

/// A string with more keywords is taken as one keyword.
const MAX_KEYWORDS: usize = 64;

/// Returns the keywords in one string, for formats that have one string for all keywords.
pub(crate) fn keywords(list: &str) -> impl Iterator<Item = &str> {
    let signs = [',', ';', '\u{3001}', '\u{ff0c}', '\u{ff1b}'];
    let keywords = list.splitn(MAX_KEYWORDS, signs).map(str::trim);
    keywords.filter(|keyword| !keyword.is_empty())
}

/// Adds a value, unless the field has it: who wrote a document is often who changed it last.
pub(crate) fn add_once(document: &mut Document, field: Field, value: &str) {
    // A hostile file has a million more.
    if document.is_full() {
        return;
    }
    let value = value.trim();
    let mut texts = document.fields.iter().filter(|(known, _)| *known == field);
    if !texts.any(|(_, known)| matches!(known, Value::Text(text) if text == value)) {
        document.add_text(field, value);
    }
}

/// Adds the authors in one string, which Office divides by semicolons.
pub(crate) fn add_authors(document: &mut Document, authors: &str) {
    for author in authors.splitn(MAX_KEYWORDS, ';') {
        add_once(document, Field::Author, author);
    }
}

/// Returns whether a property that a document defines is one of programs: labels of confidentiality, and
/// what Office, SharePoint and WPS write into every file.
pub(crate) fn is_of_program(property: &str) -> bool {
    const STARTS: [&str; 5] = ["_", "MSIP_", "KSO", "xd_", "MediaService"];
    const NAMES: [&str; 6] = [
        "AppVersion",
        "ContentTypeId",
        "GUID",
        "ICV",
        "PresentationFormat",
        "TemplateUrl",
    ];
    NAMES.contains(&property) || STARTS.iter().any(|start| property.starts_with(start))
}

/// Adds a time in the form of ISO 8601, if it is one.
pub(crate) fn add_time(document: &mut Document, field: Field, text: &str) {
    if let Some(seconds) = date::iso(text) {
        document.add_number(field, seconds);
    }
}

/// Takes the time of creation as that of the last change, if that is not known.
pub(crate) fn date_by_creation(document: &mut Document) {
    if document.number(Field::Date).is_none()
        && let Some(created) = document.number(Field::Created)
    {
        document.add_number(Field::Date, created);
    }
}

/// Sets the counted number of pages, replacing the one in the properties.
pub(crate) fn set_pages(document: &mut Document, pages: usize) {
    document.fields.retain(|(field, _)| *field != Field::Pages);
    document.add_number(Field::Pages, pages as i64);
}

/// Values of fields, in order of precedence.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    values: Vec<(Field, Value)>,
    /// The values that are present, in lower case.
    seen: HashSet<(Field, String)>,
    fields: HashSet<Field>,
    body: String,
    make: Option<String>,
    model: Option<String>,
}

impl Metadata {
    /// Adds text or a keyword.
    pub(crate) fn text(&mut self, field: Field, text: &str) {
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_rubbish = match field {
            Field::Title => names_a_file(&folded),
            Field::Description => is_placeholder(&folded),
            _ => false,
        };
        if folded.is_empty() || is_rubbish || (is_single(field) && self.has(field)) {
            return;
        }
        if self.seen.insert((field, folded.to_lowercase())) {
            self.fields.insert(field);
            self.values.push((field, Value::Text(folded)));
        }
    }

    /// Adds lyrics or names of chapters to the body.
    pub(crate) fn lines(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() || !self.seen.insert((Field::Body, text.to_owned())) {
            return;
        }
        if !self.body.is_empty() {
            self.body.push('\n');
        }
        self.body
            .push_str(&text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    /// Adds a number, or a time in seconds since 1970-01-01 UTC, unless the field has a value.
    pub(crate) fn number(&mut self, field: Field, number: i64) {
        if self.fields.insert(field) {
            self.values.push((field, Value::Number(number)));
        }
    }

    /// Adds a place on earth, in degrees, as a keyword (RFC 5870).
    pub(crate) fn place(&mut self, latitude: f64, longitude: f64) {
        let is_place = latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
        // Devices without a place write zeros.
        if is_place && (latitude, longitude) != (0.0, 0.0) {
            let place = format!("geo:{latitude:.5},{longitude:.5}");
            self.text(Field::Keywords, &place);
        }
    }

    /// Returns the texts of a field.
    pub(crate) fn texts(&self, wanted: Field) -> Vec<String> {
        let values = self.values.iter().filter(|(field, _)| *field == wanted);
        let texts = values.filter_map(|(_, value)| match value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(_) => None,
        });
        texts.collect()
    }

    /// Sets the maker of a camera.
    pub(crate) fn make(&mut self, make: &str) {
        self.make.get_or_insert_with(|| make.trim().to_owned());
    }

    /// Sets the model of a camera.
    pub(crate) fn model(&mut self, model: &str) {
        self.model.get_or_insert_with(|| model.trim().to_owned());
    }

    /// Adds the values of another source.
    pub(crate) fn merge(&mut self, other: Self) {
        for (field, value) in other.values {
            match value {
                Value::Text(text) => self.text(field, &text),
                Value::Number(number) => self.number(field, number),
            }
        }
        self.lines(&other.body);
        // One half of a camera's name is not completed from another source.
        if self.make.is_none() && self.model.is_none() {
            (self.make, self.model) = (other.make, other.model);
        }
    }

    /// Returns whether a field has a value.
    pub(crate) fn has(&self, field: Field) -> bool {
        self.fields.contains(&field)
    }

    /// Copies the values of one field to another.
    pub(crate) fn copy(&mut self, from: Field, to: Field) {
        for (field, value) in self.values.clone() {
            if let Value::Text(text) = value
                && field == from
            {
                self.text(to, &text);
            }
        }
    }

    /// Keeps the values of fields for which `keep` is true.
    pub(crate) fn retain(&mut self, keep: impl Fn(Field) -> bool) {
        self.values.retain(|(field, _)| keep(*field));
        self.fields.retain(|field| keep(*field));
        if !keep(Field::Camera) {
            (self.make, self.model) = (None, None);
        }
    }

    /// Adds all values to a document.
    pub(crate) fn add_to(self, document: &mut Document) {
        let camera = self.camera();
        document.fields.extend(self.values);
        document.add_text(Field::Camera, &camera);
        if !self.body.is_empty() {
            document.body = self.body;
        }
    }

    /// Returns maker and model; most models already begin with the maker's name.
    fn camera(&self) -> String {
        let make = self.make.as_deref().unwrap_or_default();
        let model = self.model.as_deref().unwrap_or_default();
        let brand = make.split_whitespace().next().unwrap_or_default();
        let has_brand = model
            .get(..brand.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(brand));
        if has_brand && !brand.is_empty() {
            model.to_owned()
        } else {
            format!("{make} {model}")
        }
    }
}

/// Returns whether only the first value of a field counts.
fn is_single(field: Field) -> bool {
    matches!(field, Field::Title | Field::Album | Field::Lang)
}

/// Returns whether a title is a file name that the printing program inserted: `paper.dvi`,
/// `Microsoft Word - report.doc`, `untitled`. It would hide the file's own name.
pub(crate) fn names_a_file(title: &str) -> bool {
    let title = title.trim().to_ascii_lowercase();
    let ends = [
        ".dvi", ".doc", ".docx", ".tex", ".ps", ".eps", ".xls", ".ppt", ".rtf", ".qxd",
    ];
    let one_word = !title.contains(char::is_whitespace);
    title == "untitled"
        || (one_word && ends.iter().any(|end| title.ends_with(end)))
        || (title.starts_with("microsoft ") && ends.iter().any(|end| title.ends_with(end)))
}

/// Returns whether a caption is one that a camera or program writes into every file.
fn is_placeholder(caption: &str) -> bool {
    const KNOWN: &[&str] = &[
        "ASCII",
        "Created with GIMP",
        "Created with The GIMP",
        "DIGITAL CAMERA",
        "KONICA MINOLTA DIGITAL CAMERA",
        "MINOLTA DIGITAL CAMERA",
        "OLYMPUS DIGITAL CAMERA",
        "SAMSUNG DIGITAL CAMERA",
        "SAMSUNG",
        "SONY DSC",
        "default",
    ];
    KNOWN
        .iter()
        .any(|known| known.eq_ignore_ascii_case(caption))
}

#[cfg(test)]
mod tests {
    use ken_core::{Ipath, Kind};

    use super::*;

    fn document_of(metadata: Metadata) -> Document {
        let mut document = Document::new(Ipath::root(), "image/jpeg", Kind::Image);
        metadata.add_to(&mut document);
        document
    }

    #[test]
    fn keywords_stand_between_commas_or_semicolons() {
        let found = |list| keywords(list).collect::<Vec<_>>();
        assert_eq!(
            found("sociology, risk analysis"),
            ["sociology", "risk analysis"]
        );
        assert_eq!(found(" a;b ; ,c\u{3001}d"), ["a", "b", "c", "d"]);
        assert_eq!(found("herds tundra"), ["herds tundra"]);
        assert!(found(" , ").is_empty());
        let many = "x,".repeat(100);
        assert_eq!(keywords(&many).count(), MAX_KEYWORDS);
        assert_eq!(keywords(&many).next(), Some("x"));
    }

    #[test]
    fn each_value_is_there_once_and_the_first_title_counts() {
        let mut first = Metadata::default();
        first.text(Field::Title, "Heron");
        first.text(Field::Keywords, "bird");
        first.number(Field::Created, 1);
        let mut second = Metadata::default();
        second.text(Field::Title, "Grey heron");
        second.text(Field::Keywords, " BIRD\0".trim_end_matches('\0'));
        second.text(Field::Keywords, "water");
        second.number(Field::Created, 2);
        first.merge(second);
        let fields = document_of(first).fields;
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(
            fields,
            [
                (Field::Title, text("Heron")),
                (Field::Keywords, text("bird")),
                (Field::Created, Value::Number(1)),
                (Field::Keywords, text("water")),
            ]
        );
    }

    #[test]
    fn a_camera_is_maker_and_model() {
        for (make, model, camera) in [
            ("NIKON CORPORATION", "NIKON D90", Some("NIKON D90")),
            ("Canon", "canon EOS 5D", Some("canon EOS 5D")),
            ("FUJIFILM ", "X-T3", Some("FUJIFILM X-T3")),
            ("", "Scanner", Some("Scanner")),
            ("Leica", "", Some("Leica")),
            ("", "", None),
        ] {
            let mut metadata = Metadata::default();
            metadata.make(make);
            metadata.model(model);
            assert_eq!(document_of(metadata).text(Field::Camera), camera);
        }
    }

    #[test]
    fn names_of_files_and_placeholders_are_left_out() {
        let mut metadata = Metadata::default();
        metadata.text(Field::Title, "paper.dvi");
        metadata.text(Field::Description, "OLYMPUS DIGITAL CAMERA");
        assert!(document_of(metadata).fields.is_empty());
        for name in ["float.dvi", "Microsoft Word - My report.doc", "Untitled"] {
            assert!(names_a_file(name), "{name}");
        }
        for title in ["Using paper.dvi", "Microsoft Word", "The Untitled", ""] {
            assert!(!names_a_file(title), "{title}");
        }
    }
}
