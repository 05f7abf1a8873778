//! Follows the groups of an RTF file and sends their text to its destination.

mod text;
mod words;

use ken_core::{Document, Field};

use super::charset::Charsets;
use super::picture::{Digits, Picture};
use super::token::{Token, Tokens};
use crate::formats::office::field;
use crate::formats::office::ooxml::drawing::names_a_picture;
use crate::output::body::Body;
use crate::output::metadata::{add_authors, add_once, date_by_creation, is_of_program, keywords};
use crate::{Error, Limits};
use words::is_formatting;

/// Maximum depth of groups; deeper ones share one state, and no program nests so many.
const MAX_DEPTH: usize = 1000;
/// Maximum length of a field instruction; the text of a button is short.
const MAX_INSTRUCTION_BYTES: usize = 4096;
/// More embedded objects than any program writes.
const MAX_OBJECTS: usize = 10_000;

/// The destination of a group's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    Body,
    Skipped,
    Fonts,
    Info(Field),
    /// The numbers of a date.
    Time(Field),
    Object,
    Picture,
    /// The instruction of a field.
    Instruction,
    /// The properties of a form field, of which only the choices are text.
    Form,
    /// The author of the comment that follows.
    CommentAuthor,
    /// Properties that have a name and a value: of shapes, and those that the user defined.
    Properties,
    PropertyName,
    /// The value of a property of a shape.
    PropertyValue,
}

/// State that a group inherits, and restores at its end.
#[derive(Clone, Copy)]
struct State {
    destination: Destination,
    font: i32,
    /// Number of fallback characters after one in Unicode.
    fallback: u8,
    is_deleted: bool,
    is_raised: bool,
    /// Whether the group is a footnote, header, comment or text box, which ends with the group.
    is_aside: bool,
    /// Whether the paragraph is the large first letter of the next one.
    is_drop_cap: bool,
}

pub(super) struct RtfReader<'a> {
    tokens: Tokens<'a>,
    charsets: Charsets,
    state: State,
    stack: Vec<State>,
    /// Number of open groups beyond [`MAX_DEPTH`].
    deeper: usize,
    default_font: i32,
    /// Bytes of the current run of text, kept because a character may take several.
    run: Vec<u8>,
    text: String,
    /// The first half of a character beyond U+FFFF.
    surrogate: Option<u32>,
    /// Number of characters still to skip, since they repeat one in Unicode.
    fallbacks: usize,
    /// Whether `\*` was read, so that an unknown destination is ignored.
    is_optional: bool,
    info: Vec<(Field, String)>,
    time: [i32; 5],
    numbers: Vec<(Field, i64)>,
    body: Body,
    in_row: bool,
    section: Section,
    objects: Vec<Vec<u8>>,
    digits: Digits,
    picture: Picture,
    instruction: String,
    comment_author: String,
    property: Property,
    max_object_bytes: usize,
}

/// A property that has a name and a value.
#[derive(Default)]
struct Property {
    name: String,
    value: String,
    /// Whether the value is a text.
    is_text: bool,
}

/// Whether a page begins with the section.
#[derive(Default)]
struct Section {
    is_new: bool,
    flows_on: bool,
}

impl<'a> RtfReader<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: &Limits) -> Self {
        Self {
            tokens: Tokens::new(bytes),
            charsets: Charsets::new(),
            state: State {
                destination: Destination::Body,
                font: 0,
                fallback: 1,
                is_deleted: false,
                is_raised: false,
                is_aside: false,
                is_drop_cap: false,
            },
            stack: Vec::new(),
            deeper: 0,
            default_font: 0,
            run: Vec::new(),
            text: String::new(),
            surrogate: None,
            fallbacks: 0,
            is_optional: false,
            info: Vec::new(),
            time: [0; 5],
            numbers: Vec::new(),
            body: super::body(limits),
            in_row: false,
            section: Section::default(),
            objects: Vec::new(),
            digits: Digits::default(),
            picture: Picture::default(),
            instruction: String::new(),
            comment_author: String::new(),
            property: Property::default(),
            max_object_bytes: limits.max_member_bytes as usize,
        }
    }

    /// Reads to the end of the outermost group.
    pub(super) fn read(&mut self) -> Result<(), Error> {
        if self.tokens.next() != Some(Token::Open)
            || !matches!(self.tokens.next(), Some(Token::Word(b"rtf" | b"urtf", _)))
        {
            return Err(Error::Malformed("it does not begin as RTF does".into()));
        }
        self.stack.push(self.state);
        while let Some(token) = self.tokens.next() {
            match token {
                Token::Text(text) => self.push_bytes(text),
                Token::Byte(byte) => self.push_bytes(&[byte]),
                token => {
                    self.end_run();
                    self.control(token);
                }
            }
            if self.stack.is_empty() {
                return Ok(());
            }
            if self.body.is_full() {
                break;
            }
        }
        self.end_run();
        if self.body.is_full() {
            return Ok(());
        }
        Err(Error::Malformed("the file is cut off".into()))
    }

    fn control(&mut self, token: Token<'_>) {
        let was_optional = std::mem::take(&mut self.is_optional);
        match token {
            Token::Open => self.open(),
            Token::Close => self.close(),
            Token::Symbol(b'*') => self.is_optional = true,
            Token::Symbol(symbol) => self.symbol(symbol),
            Token::Word(b"u", Some(number)) => self.unicode(number),
            Token::Word(word, number) => self.word(word, number, was_optional),
            Token::Binary(data) => self.push_binary(data),
            Token::Text(_) | Token::Byte(_) => {}
        }
    }

    fn open(&mut self) {
        self.fallbacks = 0;
        if self.stack.len() < MAX_DEPTH {
            self.stack.push(self.state);
            self.state.is_aside = false;
        } else {
            self.deeper += 1;
        }
    }

    fn close(&mut self) {
        self.fallbacks = 0;
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let inner = self.state;
        let Some(outer) = self.stack.pop() else {
            return;
        };
        self.state = outer;
        if inner.is_aside {
            self.body.end_paragraph();
            self.body.end_aside();
        }
        if let Destination::Time(field) = inner.destination
            && inner.destination != outer.destination
        {
            self.add_time(field);
        }
        if inner.destination == Destination::Picture && outer.destination != inner.destination {
            let picture = std::mem::take(&mut self.picture);
            if !inner.is_deleted {
                picture.end(&mut self.body);
            }
        }
        if inner.destination == Destination::PropertyValue && outer.destination != inner.destination
        {
            self.end_property(inner.is_deleted);
        }
        if inner.destination == Destination::Instruction && outer.destination != inner.destination {
            if inner.is_deleted || outer.is_deleted {
                self.instruction.clear();
            }
            self.end_instruction();
        }
    }

    /// Ends the instruction of a field. A button holds text for people in its instruction, after the
    /// name of its macro: `MACROBUTTON NoMacro [Click here]`. A link holds its target.
    fn end_instruction(&mut self) {
        let instruction = std::mem::take(&mut self.instruction);
        if let Some(target) = field::link_target(&instruction) {
            return self.body.link(&target);
        }
        if let Some((characters, reading)) = field::ruby(&instruction) {
            return self.body.ruby(characters, reading);
        }
        let mut rest = instruction.trim_start();
        for is_wanted in [|word: &str| word == "MACROBUTTON", |_: &str| true] {
            match rest.split_once(' ').filter(|(word, _)| is_wanted(word)) {
                Some((_, after)) => rest = after.trim_start(),
                None => return,
            }
        }
        self.emit(rest);
    }

    /// Ends a property of a shape or picture. Its text, if it is drawn, and what describes it are text.
    fn end_property(&mut self, is_deleted: bool) {
        let Property { name, value, .. } = std::mem::take(&mut self.property);
        let is_text = matches!(&*name, "wzDescription" | "gtextUNICODE");
        if is_text && !is_deleted && !names_a_picture(value.trim()) {
            self.body.begin_aside();
            self.body.push(value.trim());
            self.body.end_aside();
        }
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'~' => self.push_character(' '),
            b'_' => self.push_character('-'),
            b'\\' | b'{' | b'}' => self.push_bytes(&[symbol]),
            b'\r' | b'\n' => self.end_paragraph(),
            b'\t' => self.push_character('\t'),
            _ => {}
        }
    }

    /// Adds a UTF-16 unit, which fallback characters follow.
    fn unicode(&mut self, number: i32) {
        let unit = (number as u32) & 0xffff;
        self.fallbacks = usize::from(self.state.fallback);
        match (self.surrogate.take(), unit) {
            (_, 0xd800..0xdc00) => self.surrogate = Some(unit),
            (Some(high), 0xdc00..0xe000) => {
                let scalar = 0x1_0000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                self.push_character(char::from_u32(scalar).unwrap_or('\u{fffd}'));
            }
            // Symbol fonts use the private area.
            (_, 0xf000..0xf100) => {}
            (_, unit) => {
                let character = char::from_u32(unit).unwrap_or('\u{fffd}');
                if !character.is_control() {
                    self.push_character(character);
                }
            }
        }
    }

    fn word(&mut self, word: &[u8], number: Option<i32>, is_optional: bool) {
        if self.charsets.declare(word, number) {
            return;
        }
        match word {
            b"uc" => self.state.fallback = number.unwrap_or(1).clamp(0, 255) as u8,
            b"deff" => {
                self.default_font = number.unwrap_or(0);
                self.state.font = self.default_font;
            }
            b"f" => self.state.font = number.unwrap_or(0),
            b"pard" => self.state.is_drop_cap = false,
            b"dropcapli" => self.state.is_drop_cap = true,
            b"plain" => {
                self.state.font = self.default_font;
                self.state.is_deleted = false;
                self.state.is_raised = false;
            }
            b"fcharset" | b"cpg" if self.state.destination == Destination::Fonts => {
                let font = self.state.font;
                self.charsets.set_font(font, word, number.unwrap_or(0));
            }
            b"super" | b"up" => self.state.is_raised = number != Some(0),
            b"nosupersub" | b"sub" => self.state.is_raised = false,
            b"deleted" => self.state.is_deleted = number != Some(0),
            _ if self.destination(word, is_optional) => {}
            _ if self.state.destination == Destination::Body => self.body_word(word),
            _ if self.state.destination == Destination::Picture => self.picture.word(word),
            _ => self.info_word(word, number.unwrap_or(0)),
        }
    }

    /// Changes the destination of the group; returns whether the word is a destination.
    fn destination(&mut self, word: &[u8], is_optional: bool) -> bool {
        use Destination::{
            Body, CommentAuthor, Fonts, Form, Info, Instruction, Object, Picture, Properties,
            PropertyName, PropertyValue, Skipped, Time,
        };
        let skips = self.state.destination == Skipped;
        self.state.destination = match word {
            b"ud" if is_optional => Body,
            _ if skips => return false,
            b"fonttbl" => Fonts,
            b"info" => Info(Field::Body),
            b"title" => self.begin_info(Field::Title),
            b"author" | b"operator" => self.begin_info(Field::Author),
            b"keywords" | b"category" => self.begin_info(Field::Keywords),
            b"subject" | b"doccomm" | b"company" | b"manager" => {
                self.begin_info(Field::Description)
            }
            b"userprops" => Properties,
            b"propname" => {
                self.property = Property::default();
                PropertyName
            }
            b"staticval" if self.property.is_text && !is_of_program(&self.property.name) => {
                self.begin_info(Field::Description)
            }
            b"picprop" | b"sp" => {
                self.property = Property::default();
                Properties
            }
            b"sn" if self.state.destination == Properties => PropertyName,
            b"sv" if self.state.destination == Properties => PropertyValue,
            b"creatim" => Time(Field::Created),
            b"revtim" => Time(Field::Date),
            b"staticval" | b"linkval" | b"listtext" | b"pntext" | b"printim" | b"buptim"
            | b"hlinkbase" | b"comment" => Skipped,
            b"footnote" | b"annotation" | b"header" | b"headerl" | b"headerr" | b"headerf"
            | b"footer" | b"footerl" | b"footerr" | b"footerf" | b"shptxt" => {
                self.begin_aside();
                self.begin_comment(word);
                Body
            }
            b"atnauthor" => CommentAuthor,
            b"formfield" => Form,
            b"ffl" if self.state.destination == Form => {
                self.begin_aside();
                Body
            }
            b"objdata" => {
                self.begin_object();
                Object
            }
            b"fldinst" => Instruction,
            b"pict" => {
                self.digits = Digits::default();
                Picture
            }
            b"colortbl" | b"stylesheet" | b"fldtype" | b"datafield" | b"nonshppict"
            | b"shprslt" | b"xe" | b"tc" | b"rxe" | b"bkmkstart" | b"bkmkend" | b"atnid"
            | b"atnref" | b"atntime" | b"atndate" | b"atrfstart" | b"atrfend" | b"upr"
            | b"objclass" | b"objname" | b"filetbl" | b"private" | b"pn" | b"listtable"
            | b"listoverridetable" | b"revtbl" | b"rsidtbl" | b"generator" | b"ffdeftext"
            | b"ffl" | b"aftnsep" | b"ftnsep" | b"ftnsepc" | b"aftnsepc" | b"themedata" => Skipped,
            // Groups around text: fields, shapes, pictures for newer programs.
            b"shpinst" | b"shpgrp" | b"shppict" | b"fldrslt" | b"result" | b"do"
            | b"dptxbxtext" | b"ftncn" | b"nesttableprops" | b"mmath" | b"moMath" | b"mr"
            | b"mt" => return false,
            // The word is no destination in spite of its mark.
            _ if is_optional && is_formatting(word) => return false,
            _ if is_optional => Skipped,
            _ => return false,
        };
        true
    }

    /// Begins a value of the properties.
    fn begin_info(&mut self, field: Field) -> Destination {
        if self.info.len() >= Document::MAX_VALUES {
            return Destination::Skipped;
        }
        self.info.push((field, String::new()));
        Destination::Info(field)
    }

    /// Adds the author in front of a comment.
    fn begin_comment(&mut self, word: &[u8]) {
        let author = std::mem::take(&mut self.comment_author);
        if word == b"annotation" && !author.trim().is_empty() {
            self.body.push(author.trim());
            self.body.push(": ");
        }
    }

    fn begin_aside(&mut self) {
        if !self.state.is_aside && self.deeper == 0 {
            self.state.is_aside = true;
            self.body.begin_aside();
        }
    }

    fn body_word(&mut self, word: &[u8]) {
        match word {
            b"par" if self.state.is_drop_cap => {}
            b"par" => self.end_paragraph(),
            b"line" | b"softline" | b"lbr" => self.push_character('\n'),
            b"tab" => self.push_character('\t'),
            b"page" | b"pagebb" | b"softpage" => self.body.break_page(),
            b"sect" => {
                self.end_paragraph();
                self.section.is_new = true;
            }
            b"sectd" => self.section.flows_on = false,
            b"sbknone" | b"sbkcol" => self.section.flows_on = true,
            b"trowd" | b"intbl" if !self.in_row => {
                self.body.begin_row();
                self.in_row = true;
            }
            b"cell" | b"nestcell" => {
                self.body.end_paragraph();
                self.body.end_cell();
            }
            b"row" | b"nestrow" => {
                self.body.end_row();
                self.in_row = false;
            }
            b"emdash" => self.push_character('—'),
            b"endash" => self.push_character('–'),
            b"lquote" => self.push_character('‘'),
            b"rquote" => self.push_character('’'),
            b"ldblquote" => self.push_character('“'),
            b"rdblquote" => self.push_character('”'),
            b"bullet" => self.push_character('•'),
            b"emspace" | b"enspace" | b"qmspace" => self.push_character(' '),
            _ => {}
        }
    }

    fn info_word(&mut self, word: &[u8], number: i32) {
        let index = match word {
            b"yr" => 0,
            b"mo" => 1,
            b"dy" => 2,
            b"hr" => 3,
            b"min" => 4,
            // Of the kinds of values only texts are wanted (30 and 31 in MS-OLEPS).
            b"proptype" => return self.property.is_text = matches!(number, 30 | 31),
            b"nofpages" if number > 0 && self.numbers.is_empty() => {
                return self.numbers.push((Field::Pages, i64::from(number)));
            }
            _ => return,
        };
        if let Destination::Time(_) = self.state.destination {
            self.time[index] = number;
        }
    }

    fn add_time(&mut self, field: Field) {
        let [year, month, day, hour, minute] = std::mem::take(&mut self.time);
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}");
        if let Some(seconds) = crate::date::iso(&text) {
            self.numbers.push((field, seconds));
        }
    }

    fn end_paragraph(&mut self) {
        if self.state.destination == Destination::Body {
            self.body.end_paragraph();
        }
    }

    /// Moves text and fields into the document; returns the embedded objects.
    pub(super) fn finish(self, document: &mut Document) -> Vec<Vec<u8>> {
        for (field, text) in &self.info {
            match field {
                Field::Keywords => {
                    keywords(text).for_each(|keyword| document.join_text(*field, keyword));
                }
                Field::Author => add_authors(document, text),
                Field::Description => add_once(document, *field, text),
                _ => document.add_text(*field, text),
            }
        }
        for (field, number) in self.numbers {
            document.add_number(field, number);
        }
        date_by_creation(document);
        document.body = self.body.finish();
        self.objects
    }

    /// Returns the text alone.
    pub(super) fn into_text(self) -> String {
        self.body.finish()
    }
}
