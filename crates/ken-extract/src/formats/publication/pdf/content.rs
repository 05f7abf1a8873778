//! Runs the content streams of a page, as far as text needs it (ISO 32000-2, 8 and 9).
//!
//! Only operators that place or hide text are executed: matrices, the text state, form XObjects,
//! marked content. Paths, colours, images and shadings, on which a renderer spends most of its
//! time, are skipped unread.

use std::collections::HashSet;
use std::rc::Rc;

use hayro_font::kurbo::{Affine, Vec2};
use hayro_syntax::content::{Instruction, UntypedIter};
use hayro_syntax::object::{Dict, Name, ObjRef, Object, Stream, String as PdfString};
use hayro_syntax::page::Page;

use super::font::{Fonts, LoadedFont};
use super::layers::Layers;
use super::metadata::text_string;
use super::run::Run;
use super::segment::Segments;
use super::stream::{Budget, MAX_CONTENT_BYTES, decode};

/// Form XObjects nested deeper are left out.
const MAX_DEPTH: usize = 20;
/// Saved graphics states beyond this number are not kept.
const MAX_STATES: usize = 1_000;
/// Cost of running a stream, in addition to its length, so that many tiny forms end too.
const STREAM_COST: usize = 256;
/// Cost of a byte of a dictionary, which takes longer to read than a byte of content.
const DICT_COST: usize = 4;

/// State that outlives a page: the fonts, the layers and the work done so far.
pub(super) struct Shared<'a> {
    pub(super) fonts: Fonts<'a>,
    pub(super) layers: Layers,
    pub(super) budget: Budget,
    /// The addresses of links so far.
    pub(super) addresses: HashSet<String>,
    /// Form XObjects that were run and showed no text.
    textless: HashSet<ObjRef>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(layers: Layers, budget: Budget) -> Self {
        Self {
            fonts: Fonts::new(),
            layers,
            budget,
            addresses: HashSet::new(),
            textless: HashSet::new(),
        }
    }
}

/// The part of the graphics state that places text.
#[derive(Clone)]
struct State<'a> {
    matrix: Affine,
    font: Option<Rc<LoadedFont<'a>>>,
    size: f64,
    char_space: f64,
    /// Whether `char_space` spaces the letters of the current string.
    is_letter_spaced: bool,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

/// An open marked-content sequence.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Plain,
    Hidden,
    ActualText,
}

/// Runs content streams and passes their glyphs to [`Segments`].
pub(super) struct Interpreter<'i, 'a> {
    shared: &'i mut Shared<'a>,
    segments: &'i mut Segments,
    state: State<'a>,
    text_matrix: Affine,
    line_matrix: Affine,
    marks: Vec<Mark>,
    n_hidden: usize,
    depth: usize,
    n_shown: usize,
}

impl<'i, 'a> Interpreter<'i, 'a> {
    pub(super) fn new(
        shared: &'i mut Shared<'a>,
        segments: &'i mut Segments,
        matrix: Affine,
    ) -> Self {
        Self {
            shared,
            segments,
            state: State {
                matrix,
                font: None,
                size: 1.0,
                char_space: 0.0,
                is_letter_spaced: false,
                word_space: 0.0,
                scale: 1.0,
                leading: 0.0,
                rise: 0.0,
            },
            text_matrix: Affine::IDENTITY,
            line_matrix: Affine::IDENTITY,
            marks: Vec::new(),
            n_hidden: 0,
            depth: 0,
            n_shown: 0,
        }
    }

    /// Runs a content stream, or as much of it as the budget allows.
    pub(super) fn run(&mut self, content: &[u8], resources: &Resources<'a>) {
        if !self.shared.budget.spend(content.len() + STREAM_COST) {
            return;
        }
        let mut states = Vec::new();
        let n_marks = self.marks.len();
        let mut operations = UntypedIter::new(content);
        while let Some(operation) = operations.next() {
            let operands = Operands(&operation);
            match &**operation.operator {
                b"q" if states.len() < MAX_STATES => states.push(self.state.clone()),
                b"Q" => {
                    if let Some(state) = states.pop() {
                        self.state = state;
                    }
                }
                b"cm" => self.state.matrix *= operands.matrix(),
                b"Do" => self.draw(operands, resources),
                b"BMC" => self.begin_mark(Mark::Plain),
                b"BDC" => self.begin_marked(operands, resources),
                b"EMC" if self.marks.len() > n_marks => self.end_mark(),
                operator => self.text_operator(operator, operands, resources),
            }
        }
        while self.marks.len() > n_marks {
            self.end_mark();
        }
    }

    fn text_operator(
        &mut self,
        operator: &[u8],
        operands: Operands<'_, '_>,
        resources: &Resources<'a>,
    ) {
        match operator {
            b"BT" => {
                self.text_matrix = Affine::IDENTITY;
                self.line_matrix = Affine::IDENTITY;
            }
            b"Tf" => self.set_font(operands, resources),
            b"Tc" => self.state.char_space = operands.number(0),
            b"Tw" => self.state.word_space = operands.number(0),
            b"Tz" => self.state.scale = operands.number(0) / 100.0,
            b"TL" => self.state.leading = operands.number(0),
            b"Ts" => self.state.rise = operands.number(0),
            b"Td" => self.next_line(operands.number(1), operands.number(0)),
            b"TD" => {
                self.state.leading = -operands.number(0);
                self.next_line(operands.number(1), operands.number(0));
            }
            b"Tm" => {
                self.line_matrix = operands.matrix();
                self.text_matrix = self.line_matrix;
            }
            b"T*" => self.next_line(0.0, -self.state.leading),
            b"Tj" => self.show_strings(operands.last()),
            b"TJ" => self.show_strings(operands.last()),
            b"'" => {
                self.next_line(0.0, -self.state.leading);
                self.show_strings(operands.last());
            }
            b"\"" => {
                self.state.word_space = operands.number(2);
                self.state.char_space = operands.number(1);
                self.next_line(0.0, -self.state.leading);
                self.show_strings(operands.last());
            }
            _ => {}
        }
    }

    fn set_font(&mut self, operands: Operands<'_, '_>, resources: &Resources<'a>) {
        self.state.size = operands.number(0);
        if let Some(Object::Name(name)) = operands.nth_last(1) {
            let fonts = &mut self.shared.fonts;
            let mut found = resources.fonts.iter().map(|dict| fonts.get(dict, name));
            self.state.font = found.find_map(|font| font);
            if self.state.font.is_none() && with(&resources.fonts, name).is_none() {
                self.state.font = fonts.missing();
            }
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line_matrix *= Affine::translate((x, y));
        self.text_matrix = self.line_matrix;
    }

    /// Shows a string, or the strings of an array with the moves between them.
    fn show_strings(&mut self, shown: Option<&Object<'_>>) {
        let Some(font) = self.state.font.clone() else {
            return;
        };
        if self.n_hidden > 0 {
            return;
        }
        self.n_shown += 1;
        let Some(run) = self.run_of(&font) else {
            return;
        };
        self.segments.begin_run(run);
        self.state.is_letter_spaced =
            self.state.char_space != 0.0 && shown.is_some_and(has_several_gaps);
        let mut pen = 0.0;
        match shown {
            Some(Object::String(string)) => self.show(&font, string, &mut pen),
            Some(Object::Array(array)) => {
                // Moves are in thousandths of the font size, against the writing direction when
                // lines run to the right, and upwards when they run down.
                let unit = self.state.size / 1000.0 * self.horizontal_scale(&font);
                for object in array.iter::<Object<'_>>() {
                    match object {
                        Object::String(string) => self.show(&font, &string, &mut pen),
                        Object::Number(number) => pen -= number.as_f64() * unit,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        let moved = if font.horizontal {
            (pen, 0.0)
        } else {
            (0.0, pen)
        };
        self.text_matrix *= Affine::translate(moved);
    }

    fn horizontal_scale(&self, font: &LoadedFont<'_>) -> f64 {
        if font.horizontal {
            self.state.scale
        } else {
            1.0
        }
    }

    /// Returns -1 if lines run backwards, since the font size or the horizontal scale is negative.
    fn direction(&self, font: &LoadedFont<'_>) -> f64 {
        (self.state.size * self.horizontal_scale(font)).signum()
    }

    /// Returns the start and direction of a run of glyphs on the page.
    fn run_of(&self, font: &LoadedFont<'_>) -> Option<Run> {
        let [a, b, c, d, e, f] = (self.state.matrix * self.text_matrix).as_coeffs();
        let along = self.direction(font)
            * if font.horizontal {
                Vec2::new(a, b)
            } else {
                Vec2::new(-c, -d)
            };
        let rise = self.state.rise;
        let start = Vec2::new(e + c * rise, f + d * rise);
        let size = (self.state.size * f64::from(font.em)).abs()
            * if font.horizontal {
                // The height of a glyph, which a slanted or squeezed matrix does not change.
                (a * d - b * c).abs() / along.hypot()
            } else {
                along.hypot()
            };
        Run::new(start, along, size).map(|run| run.reaching(font.reach))
    }

    fn show(&mut self, font: &LoadedFont<'_>, string: &[u8], pen: &mut f64) {
        let scale = self.horizontal_scale(font);
        // Down is positive along vertical lines, but negative in text space.
        let sign = self.direction(font) * if font.horizontal { 1.0 } else { -1.0 };
        let State {
            size,
            char_space,
            word_space,
            is_letter_spaced,
            ..
        } = self.state;
        font.codes(string, |code, is_space| {
            let width = f64::from(code.advance) * size * scale;
            let mut spacing = char_space;
            if is_space {
                spacing += word_space;
            }
            let expected = if is_letter_spaced || is_space {
                spacing
            } else {
                0.0
            };
            self.segments.glyph(
                &code.text,
                *pen * sign,
                width * sign,
                expected * scale * sign,
            );
            *pen += width + spacing * scale;
        });
    }

    fn draw(&mut self, operands: Operands<'_, '_>, resources: &Resources<'a>) {
        let Some(Object::Name(name)) = operands.last() else {
            return;
        };
        let Some(x_objects) = with(&resources.x_objects, name) else {
            return;
        };
        let reference = x_objects.get_ref(name);
        if self.shared.budget.is_exhausted()
            || reference.is_some_and(|known| self.shared.textless.contains(&known))
        {
            return;
        }
        let Some(form) = x_objects.get::<Stream<'a>>(name) else {
            return;
        };
        let n_shown = self.n_shown;
        let complete = self.draw_form(&form, resources);
        if let Some(reference) = reference
            && complete
            && self.n_shown == n_shown
        {
            self.shared.textless.insert(reference);
        }
    }

    /// Draws a form XObject; returns false if it is hidden, or nested too deep.
    pub(super) fn draw_form(&mut self, form: &Stream<'a>, parent: &Resources<'a>) -> bool {
        let dict = form.dict();
        let subtype = dict.get::<Name<'_>>(b"Subtype");
        if subtype.is_none_or(|subtype| &*subtype != b"Form") {
            return true;
        }
        if self.depth >= MAX_DEPTH || self.n_hidden > 0 {
            return false;
        }
        if let Some(layer) = dict.get_ref(b"OC")
            && self.shared.layers.hides(layer, dict.get(b"OC").as_ref())
        {
            return false;
        }
        let Some(content) = decode(form, MAX_CONTENT_BYTES) else {
            return true;
        };
        let own = dict.get::<Dict<'a>>(b"Resources");
        let n_dict_bytes = dict.data().len() + own.as_ref().map_or(0, |own| own.data().len());
        if !self.shared.budget.spend(n_dict_bytes * DICT_COST) {
            return false;
        }
        let saved = (self.state.clone(), self.text_matrix, self.line_matrix);
        if let Some(matrix) = dict.get::<[f64; 6]>(b"Matrix") {
            self.state.matrix *= Affine::new(matrix);
        }
        let own = own.map(|own| Resources::of_form(&own, parent));
        self.depth += 1;
        self.run(&content, own.as_ref().unwrap_or(parent));
        self.depth -= 1;
        (self.state, self.text_matrix, self.line_matrix) = saved;
        true
    }

    /// Applies a matrix before anything is drawn, as for the appearance of an annotation.
    pub(super) fn transform(&mut self, matrix: Affine) {
        self.state.matrix *= matrix;
    }

    fn begin_marked(&mut self, operands: Operands<'_, '_>, resources: &Resources<'a>) {
        let Some(Object::Name(tag)) = operands.nth_last(1) else {
            return self.begin_mark(Mark::Plain);
        };
        let mark = match operands.last() {
            Some(Object::Name(name)) if **tag == *b"OC" => {
                let properties = with(&resources.properties, name);
                let layer = properties.and_then(|properties| properties.get_ref(name));
                let dict = properties.and_then(|properties| properties.get::<Dict<'_>>(name));
                match layer {
                    Some(layer) if self.shared.layers.hides(layer, dict.as_ref()) => Mark::Hidden,
                    _ => Mark::Plain,
                }
            }
            Some(Object::Name(name)) => {
                let properties = with(&resources.properties, name);
                let dict = properties.and_then(|properties| properties.get::<Dict<'_>>(name));
                self.actual_text(dict.as_ref())
            }
            Some(Object::Dict(dict)) => self.actual_text(Some(dict)),
            _ => Mark::Plain,
        };
        self.begin_mark(mark);
    }

    fn actual_text(&mut self, properties: Option<&Dict<'_>>) -> Mark {
        let Some(text) = properties.and_then(|dict| dict.get::<PdfString<'_>>(b"ActualText"))
        else {
            return Mark::Plain;
        };
        if self.marks.contains(&Mark::ActualText) {
            return Mark::Plain;
        }
        self.segments.begin_actual_text(&text_string(&text));
        Mark::ActualText
    }

    fn begin_mark(&mut self, mark: Mark) {
        if self.marks.len() >= MAX_STATES {
            return;
        }
        self.n_hidden += usize::from(mark == Mark::Hidden);
        self.marks.push(mark);
    }

    fn end_mark(&mut self) {
        match self.marks.pop() {
            Some(Mark::Hidden) => self.n_hidden -= 1,
            Some(Mark::ActualText) => self.segments.end_actual_text(),
            Some(Mark::Plain) | None => {}
        }
    }
}

/// The resources that matter for text: of a form its own, then those of its page, since viewers
/// find there what a form lacks.
pub(super) struct Resources<'a> {
    fonts: Vec<Dict<'a>>,
    x_objects: Vec<Dict<'a>>,
    properties: Vec<Dict<'a>>,
}

impl<'a> Resources<'a> {
    /// Returns the resources of a page, its own or inherited.
    pub(super) fn of_page(page: &Page<'a>) -> Self {
        let all = page.resources();
        Self {
            fonts: vec![all.fonts.clone()],
            x_objects: vec![all.x_objects.clone()],
            properties: vec![all.properties.clone()],
        }
    }

    fn of_form(own: &Dict<'a>, parent: &Self) -> Self {
        let of = |key: &[u8], parent: &[Dict<'a>]| {
            let own = own.get::<Dict<'a>>(key);
            own.into_iter().chain(parent.last().cloned()).collect()
        };
        Self {
            fonts: of(b"Font", &parent.fonts),
            x_objects: of(b"XObject", &parent.x_objects),
            properties: of(b"Properties", &parent.properties),
        }
    }
}

/// Returns the first dictionary that has an entry.
fn with<'d, 'a>(dicts: &'d [Dict<'a>], name: &[u8]) -> Option<&'d Dict<'a>> {
    dicts.iter().find(|dict| dict.contains_key(name))
}

/// The operands of an operation, counted from the end, so that garbage before them does no harm.
#[derive(Clone, Copy)]
struct Operands<'o, 's>(&'o Instruction<'o, 's>);

impl<'o, 's> Operands<'o, 's> {
    fn nth_last(self, index: usize) -> Option<&'o Object<'s>> {
        let n_operands = self.0.operands().count();
        self.0.operands().nth(n_operands.checked_sub(index + 1)?)
    }

    fn last(self) -> Option<&'o Object<'s>> {
        self.0.operands().last()
    }

    fn number(self, index: usize) -> f64 {
        match self.nth_last(index) {
            Some(Object::Number(number)) => number.as_f64(),
            _ => 0.0,
        }
    }

    fn matrix(self) -> Affine {
        if self.0.operands().count() < 6 {
            return Affine::IDENTITY;
        }
        Affine::new([5, 4, 3, 2, 1, 0].map(|index| self.number(index)))
    }
}

/// Returns whether the string has several gaps, which letter spacing makes equal. A single gap
/// between two glyphs may also separate two words: Ghostscript writes it so.
fn has_several_gaps(shown: &Object<'_>) -> bool {
    match shown {
        Object::String(string) => string.len() > 2,
        Object::Array(array) => {
            let mut n_bytes = 0;
            array.iter::<Object<'_>>().any(|object| {
                if let Object::String(string) = object {
                    n_bytes += string.len();
                }
                n_bytes > 2
            })
        }
        _ => false,
    }
}
