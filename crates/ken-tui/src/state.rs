//! What the screen shows, and what each key does to it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::field::Field;
use crate::row::{Found, Mark, OpenAt, Row, Text};
use crate::view::View;

/// Lines by which the wheel of a mouse moves a text.
const WHEEL: usize = 3;

/// What is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Documents, ranked.
    #[default]
    Search,
    /// Lines of files, by a regular expression.
    Grep,
}

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) mode: Mode,
    pub(crate) query: String,
    /// Only documents below this folder.
    pub(crate) folder: Option<PathBuf>,
    /// Only documents of this type.
    pub(crate) kind: Option<String>,
}

/// What is to be done after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Nothing,
    /// The question is another one.
    Ask,
    /// Another hit is chosen, so another text is shown.
    Look,
    /// Open this address, at a place.
    Open(OsString, Option<OpenAt>),
    /// Open the folder of this address.
    OpenFolder(OsString),
    /// Leave, and print these addresses.
    Print(Vec<OsString>),
    /// Leave.
    Quit,
}

/// The rows and columns that a part of the screen has, and the row at its top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl Place {
    fn has(self, column: u16, row: u16) -> bool {
        (self.x..self.x + self.width).contains(&column)
            && (self.y..self.y + self.height).contains(&row)
    }
}

/// Everything that the screen shows.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) query: Field,
    /// The folder that is being typed, while it is.
    pub(crate) typing_folder: Option<Field>,
    pub(crate) ask: Ask,
    pub(crate) found: Found,
    /// Whether the answer to the question is on its way.
    pub(crate) is_waiting: bool,
    pub(crate) chosen: usize,
    /// The first row of the list that is shown.
    pub(crate) first: usize,
    pub(crate) marked: BTreeSet<Mark>,
    pub(crate) view: View,
    pub(crate) is_help: bool,
    /// What the last key could not do.
    pub(crate) note: Option<String>,
    pub(crate) home: Option<PathBuf>,
    /// Where lines are searched if no folder is chosen.
    pub(crate) here: PathBuf,
    /// Whether Enter prints addresses instead of opening the document.
    pub(crate) enter_prints: bool,
    pub(crate) list: Place,
    pub(crate) text: Place,
    /// The lines of the screen that a hit takes.
    pub(crate) row_height: usize,
}

impl State {
    /// Returns the hit that is chosen.
    pub(crate) fn row(&self) -> Option<&Row> {
        self.found.rows.get(self.chosen)
    }

    /// Takes an answer.
    pub(crate) fn answer(&mut self, found: Found) {
        self.found = found;
        self.is_waiting = false;
        (self.chosen, self.first) = (0, 0);
    }

    /// Takes the text of the chosen hit.
    pub(crate) fn show(&mut self, text: Text) {
        self.view = View::new(text);
    }

    /// Returns how many hits fit into the list.
    fn page(&self) -> usize {
        (usize::from(self.list.height) / self.row_height.max(1)).max(1)
    }

    /// Moves the list so that the chosen hit is on the screen.
    pub(crate) fn follow(&mut self) {
        let page = self.page();
        self.first = self.first.min(self.chosen);
        if self.chosen >= self.first + page {
            self.first = self.chosen + 1 - page;
        }
    }

    fn choose(&mut self, at: usize) -> Deed {
        let at = at.min(self.found.rows.len().saturating_sub(1));
        if at == self.chosen {
            return Deed::Nothing;
        }
        self.chosen = at;
        Deed::Look
    }

    fn move_by(&mut self, n: isize) -> Deed {
        self.choose(self.chosen.saturating_add_signed(n))
    }

    fn mark(&mut self) {
        if let Some(mark) = self.row().map(Row::mark)
            && !self.marked.remove(&mark)
        {
            self.marked.insert(mark);
        }
    }

    /// Does what a key says.
    pub(crate) fn press(&mut self, key: KeyEvent) -> Deed {
        self.note = None;
        if self.is_help {
            self.is_help = false;
            return Deed::Nothing;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if self.typing_folder.is_some() {
            return self.type_folder(key, control);
        }
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let shift = key.modifiers.contains(KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Esc => return Deed::Quit,
            KeyCode::F(1) => self.is_help = true,
            KeyCode::Enter if alt => return self.with_row(Deed::OpenFolder),
            KeyCode::Enter if self.enter_prints => return self.take(),
            KeyCode::Enter => {
                let place = self.row().and_then(Row::place);
                return self.with_row(|address| Deed::Open(address, place));
            }
            KeyCode::Tab => {
                self.mark();
                return self.move_by(1);
            }
            KeyCode::BackTab => {
                self.mark();
                return self.move_by(-1);
            }
            KeyCode::Up if shift || alt => self.view.scroll(-1),
            KeyCode::Down if shift || alt => self.view.scroll(1),
            KeyCode::PageUp if shift || alt => self.view.scroll_page(-1),
            KeyCode::PageDown if shift || alt => self.view.scroll_page(1),
            KeyCode::Up => return self.move_by(-1),
            KeyCode::Down => return self.move_by(1),
            KeyCode::PageUp => return self.move_by(-self.page().cast_signed()),
            KeyCode::PageDown => return self.move_by(self.page().cast_signed()),
            KeyCode::Home if control => return self.choose(0),
            KeyCode::End if control => return self.choose(usize::MAX),
            KeyCode::Char('n') if alt => self.view.next_match(1),
            KeyCode::Char('p') if alt => self.view.next_match(-1),
            KeyCode::Char(letter) if control => return self.control(letter),
            _ => return self.edit(key, alt),
        }
        Deed::Nothing
    }

    fn with_row(&self, deed: impl FnOnce(OsString) -> Deed) -> Deed {
        let address = self.row().map(|row| row.address.clone());
        address.map_or(Deed::Nothing, deed)
    }

    fn control(&mut self, letter: char) -> Deed {
        match letter {
            'c' | 'd' | 'q' => return Deed::Quit,
            'p' | 'k' => return self.move_by(-1),
            'n' | 'j' => return self.move_by(1),
            'o' => return self.with_row(Deed::OpenFolder),
            'y' => return self.print(),
            'g' => {
                self.ask.mode = match self.ask.mode {
                    Mode::Search => Mode::Grep,
                    Mode::Grep => Mode::Search,
                };
                return Deed::Ask;
            }
            't' => return self.next_type(),
            'f' => {
                let here = self.ask.folder.clone();
                let folder = here.or_else(|| self.row().map(|row| row.folder.clone()));
                let text =
                    folder.map(|folder| crate::row::path_text(&folder, self.home.as_deref()));
                self.typing_folder = Some(Field::proposed(&text.unwrap_or_default()));
            }
            'a' => self.query.home(),
            'e' => self.query.end(),
            'w' => {
                self.query.delete_word();
                return self.edited();
            }
            'u' => {
                self.query.delete_before();
                return self.edited();
            }
            'h' => {
                self.query.backspace();
                return self.edited();
            }
            _ => {}
        }
        Deed::Nothing
    }

    fn edit(&mut self, key: KeyEvent, alt: bool) -> Deed {
        match key.code {
            KeyCode::Char(letter) if !alt => {
                let mut buffer = [0; 4];
                self.query.insert(letter.encode_utf8(&mut buffer));
            }
            KeyCode::Backspace => self.query.backspace(),
            KeyCode::Delete => self.query.delete(),
            KeyCode::Left => self.query.left(),
            KeyCode::Right => self.query.right(),
            KeyCode::Home => self.query.home(),
            KeyCode::End => self.query.end(),
            _ => {}
        }
        self.edited()
    }

    /// Inserts what was pasted.
    pub(crate) fn paste(&mut self, text: &str) -> Deed {
        let line: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if let Some(folder) = &mut self.typing_folder {
            folder.insert(&line);
            return Deed::Nothing;
        }
        self.query.insert(&line);
        self.edited()
    }

    fn edited(&mut self) -> Deed {
        if self.ask.query == self.query.text() {
            return Deed::Nothing;
        }
        self.query.text().clone_into(&mut self.ask.query);
        Deed::Ask
    }

    /// Edits the folder to which the search is limited.
    fn type_folder(&mut self, key: KeyEvent, control: bool) -> Deed {
        let Some(folder) = &mut self.typing_folder else {
            return Deed::Nothing;
        };
        match key.code {
            KeyCode::Esc => self.typing_folder = None,
            KeyCode::Char('c') if control => self.typing_folder = None,
            KeyCode::Enter => {
                let text = folder.text().trim().to_owned();
                self.typing_folder = None;
                let folder = match text.strip_prefix('~') {
                    _ if text.is_empty() => None,
                    Some(below) => self
                        .home
                        .as_deref()
                        .map(|home| home.join(below.trim_start_matches('/'))),
                    None => Some(PathBuf::from(&text)),
                };
                // Whether it is there is for the answer to say: a disk may not answer.
                if folder != self.ask.folder {
                    self.ask.folder = folder;
                    return Deed::Ask;
                }
            }
            KeyCode::Char('u') if control => folder.delete_before(),
            KeyCode::Char('w') if control => folder.delete_word(),
            KeyCode::Char(letter) if !control => {
                let mut buffer = [0; 4];
                folder.insert(letter.encode_utf8(&mut buffer));
            }
            KeyCode::Backspace => folder.backspace(),
            KeyCode::Delete => folder.delete(),
            KeyCode::Left => folder.left(),
            KeyCode::Right => folder.right(),
            KeyCode::Home => folder.home(),
            KeyCode::End => folder.end(),
            _ => {}
        }
        Deed::Nothing
    }

    /// Limits the search to the next type of documents that were found, and after the last one to none.
    fn next_type(&mut self) -> Deed {
        if self.ask.mode == Mode::Grep {
            self.note = Some("lines have no type: ^G goes back to documents".to_owned());
            return Deed::Nothing;
        }
        let types = &self.found.types;
        let at = self.ask.kind.as_ref();
        let next = match at.and_then(|kind| types.iter().position(|(name, _)| name == kind)) {
            Some(at) => types.get(at + 1),
            None if at.is_some() => None,
            None => types.first(),
        };
        self.ask.kind = next.map(|(name, _)| name.clone());
        Deed::Ask
    }

    /// Returns what is marked, else what is chosen.
    fn marks(&self) -> Vec<Mark> {
        match self.marked.is_empty() {
            true => self.row().map(Row::mark).into_iter().collect(),
            false => self.marked.iter().cloned().collect(),
        }
    }

    /// Prints addresses, with the lines that were found in files.
    fn print(&self) -> Deed {
        let marks = self.marks();
        match marks.is_empty() {
            true => Deed::Nothing,
            false => Deed::Print(marks.iter().map(Mark::with_line).collect()),
        }
    }

    /// Prints addresses for a program that opens files.
    fn take(&self) -> Deed {
        let mut addresses: Vec<OsString> =
            self.marks().into_iter().map(|mark| mark.address).collect();
        addresses.dedup();
        match addresses.is_empty() {
            true => Deed::Nothing,
            false => Deed::Print(addresses),
        }
    }

    /// Does what a click says.
    pub(crate) fn click(&mut self, column: u16, row: u16) -> Deed {
        if !self.list.has(column, row) {
            return Deed::Nothing;
        }
        let at = self.first + usize::from(row - self.list.y) / self.row_height.max(1);
        if at >= self.found.rows.len() {
            return Deed::Nothing;
        }
        self.choose(at)
    }

    /// Does what the wheel of the mouse says.
    pub(crate) fn wheel(&mut self, column: u16, row: u16, is_down: bool) -> Deed {
        let step = if is_down { 1 } else { -1 };
        if self.text.has(column, row) {
            self.view.scroll(step * WHEEL.cast_signed());
            return Deed::Nothing;
        }
        self.move_by(step)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::row::Target;

    fn row(name: &str) -> Row {
        Row {
            target: Target::Document(name.to_owned()),
            address: OsString::from(format!("/docs/{name}")),
            folder: "/docs".into(),
            title: Vec::new(),
            about: String::new(),
            passage: Vec::new(),
            line: Some(7),
            page: None,
        }
    }

    fn state() -> State {
        let mut state = State {
            list: Place {
                x: 0,
                y: 2,
                width: 40,
                height: 6,
            },
            row_height: 3,
            ..State::default()
        };
        state.answer(Found {
            rows: ["a", "b", "c"].map(row).to_vec(),
            types: vec![("mail".to_owned(), 2), ("pdf".to_owned(), 1)],
            ..Found::default()
        });
        state
    }

    fn press(state: &mut State, code: KeyCode, modifiers: KeyModifiers) -> Deed {
        state.press(KeyEvent::new(code, modifiers))
    }

    fn control(state: &mut State, letter: char) -> Deed {
        press(state, KeyCode::Char(letter), KeyModifiers::CONTROL)
    }

    #[test]
    fn each_letter_is_a_question() {
        let mut state = state();
        for letter in "ok".chars() {
            assert_eq!(
                press(&mut state, KeyCode::Char(letter), KeyModifiers::NONE),
                Deed::Ask
            );
        }
        assert_eq!(state.ask.query, "ok");
        assert_eq!(
            press(&mut state, KeyCode::Left, KeyModifiers::NONE),
            Deed::Nothing
        );
        assert_eq!(control(&mut state, 'u'), Deed::Ask);
        assert_eq!(state.ask.query, "k");
        assert_eq!(state.paste("x\ny"), Deed::Ask);
        assert_eq!(state.ask.query, "x yk");
    }

    #[test]
    fn the_chosen_hit_stays_on_the_screen() {
        let mut state = state();
        assert_eq!(
            press(&mut state, KeyCode::Up, KeyModifiers::NONE),
            Deed::Nothing
        );
        assert_eq!(
            press(&mut state, KeyCode::PageDown, KeyModifiers::NONE),
            Deed::Look
        );
        state.follow();
        assert_eq!((state.chosen, state.first), (2, 1));
        assert_eq!(
            press(&mut state, KeyCode::Down, KeyModifiers::NONE),
            Deed::Nothing
        );
        assert_eq!(state.click(3, 2), Deed::Look);
        assert_eq!(state.chosen, 1);
        assert_eq!(state.click(3, 30), Deed::Nothing);
        assert_eq!(state.wheel(3, 3, false), Deed::Look);
        assert_eq!(state.chosen, 0);
    }

    #[test]
    fn marked_addresses_are_printed_else_the_chosen_one() {
        let mut state = state();
        let address = |name: &str| OsString::from(name);
        assert_eq!(
            control(&mut state, 'y'),
            Deed::Print(vec![address("/docs/a")])
        );
        assert_eq!(
            press(&mut state, KeyCode::Tab, KeyModifiers::NONE),
            Deed::Look
        );
        press(&mut state, KeyCode::Tab, KeyModifiers::NONE);
        press(&mut state, KeyCode::Tab, KeyModifiers::NONE);
        assert_eq!(state.marked.len(), 3);
        // The last hit is still chosen.
        press(&mut state, KeyCode::BackTab, KeyModifiers::SHIFT);
        let marked = vec![address("/docs/a"), address("/docs/b")];
        assert_eq!(control(&mut state, 'y'), Deed::Print(marked.clone()));
        assert_eq!(
            press(&mut state, KeyCode::Enter, KeyModifiers::NONE),
            Deed::Open(address("/docs/b"), Some(OpenAt::Line(7)))
        );
        state.enter_prints = true;
        assert_eq!(
            press(&mut state, KeyCode::Enter, KeyModifiers::NONE),
            Deed::Print(marked)
        );
    }

    #[test]
    fn a_line_is_printed_with_its_number() {
        let mut state = state();
        let line = |number| Row {
            target: Target::File("/docs/a".into()),
            line: Some(number),
            ..row("a")
        };
        state.answer(Found {
            rows: vec![line(9), line(111)],
            ..Found::default()
        });
        let printed = |texts: &[&str]| Deed::Print(texts.iter().map(OsString::from).collect());
        assert_eq!(control(&mut state, 'y'), printed(&["/docs/a:9"]));
        press(&mut state, KeyCode::Tab, KeyModifiers::NONE);
        press(&mut state, KeyCode::Tab, KeyModifiers::NONE);
        let both = printed(&["/docs/a:9", "/docs/a:111"]);
        assert_eq!(control(&mut state, 'y'), both);
        state.enter_prints = true;
        assert_eq!(
            press(&mut state, KeyCode::Enter, KeyModifiers::NONE),
            printed(&["/docs/a"])
        );
    }

    #[test]
    fn types_and_folders_limit_the_search() {
        let mut state = state();
        for kind in [Some("mail"), Some("pdf"), None, Some("mail")] {
            assert_eq!(control(&mut state, 't'), Deed::Ask);
            assert_eq!(state.ask.kind.as_deref(), kind);
        }
        control(&mut state, 'f');
        assert_eq!(state.typing_folder.as_ref().unwrap().text(), "/docs");
        assert_eq!(
            press(&mut state, KeyCode::Enter, KeyModifiers::NONE),
            Deed::Ask
        );
        assert_eq!(state.ask.folder.as_deref(), Some(Path::new("/docs")));
        // What is typed replaces the folder that is proposed, unless the cursor was moved in it.
        control(&mut state, 'f');
        for letter in "/a".chars() {
            press(&mut state, KeyCode::Char(letter), KeyModifiers::NONE);
        }
        assert_eq!(state.typing_folder.as_ref().unwrap().text(), "/a");
        press(&mut state, KeyCode::Esc, KeyModifiers::NONE);
        control(&mut state, 'f');
        press(&mut state, KeyCode::End, KeyModifiers::NONE);
        state.paste("/b");
        assert_eq!(state.typing_folder.as_ref().unwrap().text(), "/docs/b");
        press(&mut state, KeyCode::Esc, KeyModifiers::NONE);
        control(&mut state, 'f');
        control(&mut state, 'u');
        press(&mut state, KeyCode::Char('/'), KeyModifiers::NONE);
        assert_eq!(
            press(&mut state, KeyCode::Enter, KeyModifiers::NONE),
            Deed::Ask
        );
        assert_eq!(state.ask.folder.as_deref(), Some(Path::new("/")));
        assert_eq!(control(&mut state, 'g'), Deed::Ask);
        assert_eq!(state.ask.mode, Mode::Grep);
        assert_eq!(control(&mut state, 't'), Deed::Nothing);
    }
}
