//! Joins the pieces of text that a metafile draws. Programs draw a line in one piece, word by word, or letter by letter, so
//! that the places of pieces tell what belongs together.

/// A piece that begins so close behind the last one, in widths of a character, continues its word.
const WORD_GAP: f64 = 0.35;
/// The same for letters, in widths of the wider one, where the program draws the blanks too.
const LETTER_GAP: f64 = 0.6;
/// A piece that is off the line by less than this many widths of a character is on it.
const LINE_DRIFT: f64 = 0.5;

/// The texts so far.
pub(super) struct Pieces {
    text: String,
    max_bytes: usize,
    last: Option<End>,
    /// Whether blanks are pieces of their own, as of programs that draw letter by letter.
    has_blanks: bool,
}

/// Where the last piece ended.
struct End {
    x: f64,
    y: f64,
    /// The width of a character; 0 if it is not known.
    unit: f64,
    is_letter: bool,
}

impl Pieces {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            text: String::new(),
            max_bytes,
            last: None,
            has_blanks: false,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() > self.max_bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Adds a piece that begins at a place and is as wide as its advances say, if they are known.
    pub(super) fn add(&mut self, text: &str, (x, y): (f64, f64), width: Option<f64>) {
        let text = text.trim_end_matches('\0');
        if text.is_empty() || self.is_full() {
            return;
        }
        let n = text.chars().count();
        let width = width.filter(|width| *width > 0.0);
        let unit = width.map_or(0.0, |width| width / n as f64);
        self.has_blanks |= text == " ";
        if let Some(last) = &self.last {
            let is_letters = self.has_blanks && last.is_letter && n == 1;
            let separator = separator(last, (x, y), unit, is_letters);
            self.text.push_str(separator);
        }
        self.text.push_str(text);
        self.last = Some(End {
            x: x + width.unwrap_or(0.0),
            y,
            unit,
            is_letter: n == 1,
        });
    }

    /// Returns the texts, without empty lines.
    pub(super) fn finish(self) -> String {
        let lines = self.text.split(['\n', '\r']).map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        lines.join("\n")
    }
}

fn separator(last: &End, (x, y): (f64, f64), unit: f64, is_letters: bool) -> &'static str {
    let most = match is_letters {
        true => LETTER_GAP * last.unit.max(unit),
        false => WORD_GAP * if last.unit > 0.0 { last.unit } else { unit },
    };
    let unit = if last.unit > 0.0 { last.unit } else { unit };
    let gap = x - last.x;
    if (y - last.y).abs() > LINE_DRIFT * unit.max(1.0) {
        "\n"
    } else if last.unit == 0.0 {
        // How wide the last piece was is not known.
        if gap < 0.0 { "\n" } else { " " }
    } else if gap.abs() <= most {
        ""
    } else if gap < 0.0 {
        "\n"
    } else {
        " "
    }
}
