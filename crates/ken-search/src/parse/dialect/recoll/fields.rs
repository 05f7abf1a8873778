//! The meaning of the fields of Recoll's language, and the filters of the whole query.

use ken_core::{Field, FieldKind, Kind};

use super::super::super::tree::{Tree, Value};
use super::super::words::clause;

/// Where a value is searched for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Target {
    Words(&'static [Field]),
    Whole(Field),
    Dir,
    Mime,
    Category,
    Part,
    Date,
    Size,
}

/// Returns the meaning of a field name; `None` if no field has it.
pub(super) fn target(name: &str) -> Result<Option<Target>, &'static str> {
    let target = match name {
        "recipient" | "to" => Target::Words(&[Field::To, Field::Cc, Field::Bcc]),
        "text" => Target::Words(&[]),
        "ext" => Target::Whole(Field::Ext),
        "dir" => Target::Dir,
        "mime" | "format" => Target::Mime,
        "type" | "rclcat" => Target::Category,
        "issub" => Target::Part,
        "date" => Target::Date,
        "size" => Target::Size,
        "containerfilename" | "cfn" => return Err("the name of the file that a part is in"),
        "rclmd5" => return Err("the MD5 checksum of a document"),
        "rclbes" => return Err("the store that a document is from"),
        name => {
            let name = name.strip_prefix("dc:").unwrap_or(name);
            let field = Field::from_name(name).filter(|f| f.info().kind == FieldKind::Text);
            let Some(position) = field.and_then(|f| SINGLE.iter().position(|of| *of == f)) else {
                return Ok(None);
            };
            Target::Words(&SINGLE[position..=position])
        }
    };
    Ok(Some(target))
}

/// Text fields that have a name of their own in Recoll.
const SINGLE: [Field; 8] = [
    Field::Title,
    Field::Filename,
    Field::Author,
    Field::Keywords,
    Field::Description,
    Field::Artist,
    Field::Album,
    Field::Camera,
];

/// Recoll's categories and the types that they hold.
pub(super) const CATEGORIES: [(&str, &[Kind]); 6] = [
    ("text", &[Kind::Document, Kind::Source]),
    ("spreadsheet", &[Kind::Spreadsheet]),
    ("presentation", &[Kind::Presentation]),
    ("media", &[Kind::Image, Kind::Audio, Kind::Video]),
    ("message", &[Kind::Message]),
    ("other", &[Kind::Archive, Kind::Data, Kind::Other]),
];

pub(super) fn category(name: &str) -> Option<&'static [Kind]> {
    let known = CATEGORIES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, kinds)| *kinds)
}

/// Reads a size whose units are powers of 1000.
pub(super) fn decimal_size(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    let number = digits.parse::<i64>().ok().filter(|number| *number >= 0)?;
    number.checked_mul(1000_i64.checked_pow(power)?)
}

/// The conditions that apply to the whole query, from any position.
#[derive(Default)]
pub(super) struct Filters {
    /// Media types and categories: one of these …
    types: Vec<Tree>,
    /// … and none of these.
    not_types: Vec<Tree>,
    sizes: Vec<Tree>,
    /// Only the last one counts.
    pub(super) date: Option<Tree>,
    pub(super) part: Option<Tree>,
}

impl Filters {
    pub(super) fn push_type(&mut self, tree: Tree, negated: bool) {
        if negated {
            self.not_types.push(Tree::not(tree));
        } else {
            self.types.push(tree);
        }
    }

    pub(super) fn push_size(&mut self, range: Value, negated: bool) {
        let tree = clause(Some(Field::Size), range);
        self.sizes
            .push(if negated { Tree::not(tree) } else { tree });
    }

    pub(super) fn tree(self) -> Option<Tree> {
        let mut parts = Vec::new();
        if !self.types.is_empty() {
            parts.push(Tree::or(self.types));
        }
        parts.extend(self.not_types);
        parts.extend(self.sizes);
        parts.extend(self.date);
        parts.extend(self.part);
        (!parts.is_empty()).then(|| Tree::and(parts))
    }
}
