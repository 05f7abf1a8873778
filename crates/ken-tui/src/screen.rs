//! Keys, questions and answers meet here. While no answer is on its way the screen waits for keys, and costs nothing.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
    Event, KeyEventKind, MouseButton, MouseEventKind,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use crate::Setup;
use crate::draw::{Looks, draw};
use crate::field::Field;
use crate::row::OpenAt;
use crate::seek::{Look, Reply, Seeker};
use crate::state::{Deed, State};

/// How often it is looked for an answer while one is on its way.
const TICK: Duration = Duration::from_millis(4);

/// Shows the screen, beginning with this query, until the user leaves it. Returns the addresses that are to be printed:
/// none if the user left without choosing.
///
/// # Errors
/// Fails if there is no terminal.
pub fn run(setup: Setup, query: &str) -> io::Result<Vec<OsString>> {
    let (replies, answers) = channel();
    let looks = Looks::new(setup.has_color);
    let mut state = State {
        query: Field::new(query),
        home: setup.access.context.home.clone(),
        here: setup.access.context.cwd.clone(),
        enter_prints: setup.enter_prints,
        ..State::default()
    };
    query.clone_into(&mut state.ask.query);
    let mut screen = Screen {
        terminal: Terminal::enter()?,
        seeker: Seeker::start(setup, &replies)?,
        answers,
        state,
        looks,
        is_wanted: false,
    };
    screen.follow(Deed::Ask)?;
    loop {
        screen.draw()?;
        let deed = screen.next()?;
        if let Deed::Print(addresses) = deed {
            return Ok(addresses);
        }
        if deed == Deed::Quit {
            return Ok(Vec::new());
        }
        screen.follow(deed)?;
    }
}

struct Screen {
    terminal: Terminal,
    seeker: Seeker,
    answers: Receiver<Reply>,
    state: State,
    looks: Looks,
    /// Whether an answer is on its way.
    is_wanted: bool,
}

impl Screen {
    fn draw(&mut self) -> io::Result<()> {
        let (state, looks) = (&mut self.state, self.looks);
        self.terminal
            .inner
            .draw(|frame| draw(frame, state, looks))?;
        Ok(())
    }

    /// Waits for a key or an answer.
    fn next(&mut self) -> io::Result<Deed> {
        while self.is_wanted {
            if let Ok(reply) = self.answers.try_recv() {
                return Ok(self.take(reply));
            }
            if event::poll(TICK)? {
                break;
            }
        }
        Ok(self.heed(&event::read()?))
    }

    fn heed(&mut self, event: &Event) -> Deed {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.state.press(*key),
            Event::Paste(text) => self.state.paste(text),
            Event::Mouse(mouse) => match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => {
                    self.state.click(mouse.column, mouse.row)
                }
                MouseEventKind::ScrollDown => self.state.wheel(mouse.column, mouse.row, true),
                MouseEventKind::ScrollUp => self.state.wheel(mouse.column, mouse.row, false),
                _ => Deed::Nothing,
            },
            _ => Deed::Nothing,
        }
    }

    fn take(&mut self, reply: Reply) -> Deed {
        match reply {
            Reply::Found(ask, found) if ask == self.state.ask => {
                self.is_wanted = false;
                self.state.answer(found);
                Deed::Look
            }
            Reply::Text(look, text) if self.look().as_ref() == Some(&look) => {
                self.is_wanted = false;
                self.state.show(text);
                Deed::Nothing
            }
            // Of a question that is no longer asked.
            Reply::Found(..) | Reply::Text(..) => Deed::Nothing,
        }
    }

    /// Returns the wish for the text of the chosen hit.
    fn look(&self) -> Option<Look> {
        let row = self.state.row()?;
        Some(Look {
            target: row.target.clone(),
            line: row.line,
            ask: self.state.ask.clone(),
        })
    }

    fn follow(&mut self, deed: Deed) -> io::Result<()> {
        match deed {
            Deed::Ask => {
                self.state.is_waiting = true;
                self.is_wanted = true;
                self.seeker.ask(self.state.ask.clone());
            }
            Deed::Look => match self.look() {
                Some(look) => {
                    self.is_wanted = true;
                    self.seeker.look(look);
                }
                None => self.state.show(crate::row::Text::default()),
            },
            Deed::Open(address, place) => {
                let place = place.map(|place| match place {
                    OpenAt::Line(line) => ["--line".to_owned(), line.to_string()],
                    OpenAt::Page(page) => ["--page".to_owned(), page.to_string()],
                });
                self.open(place.as_ref().map_or(&[], |place| &place[..]), &address)?;
            }
            Deed::OpenFolder(address) => self.open(&["--folder".to_owned()], &address)?,
            Deed::Nothing | Deed::Print(_) | Deed::Quit => {}
        }
        Ok(())
    }

    /// Has `ken open` open an address. It may start an editor, so it gets the terminal.
    fn open(&mut self, options: &[String], address: &OsString) -> io::Result<()> {
        self.terminal.leave()?;
        let setup = self.seeker.setup();
        let mut command = Command::new(&setup.program.path);
        command
            .args(&setup.program.arguments)
            .arg("open")
            .args(options)
            .arg("--")
            .arg(address);
        if let Ok(terminal) = terminal() {
            // Standard output may be read by a program.
            command.stdin(terminal.try_clone()?).stdout(terminal);
        }
        let output = command
            .stderr(Stdio::piped())
            .spawn()
            .and_then(std::process::Child::wait_with_output);
        self.terminal.enter_again()?;
        let said = match output {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        let first = said
            .lines()
            .next()
            .unwrap_or("the document could not be opened");
        self.state.note = Some((setup.visible)(first).into_owned());
        Ok(())
    }
}

/// The terminal, which shows the screen until this is dropped.
struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<File>>,
}

/// Returns the terminal of the process: standard output may be read by a program.
fn terminal() -> io::Result<File> {
    let mut options = fs_err::OpenOptions::new();
    let terminal = options.read(true).write(true).open("/dev/tty")?;
    Ok(terminal.into_parts().0)
}

impl Terminal {
    fn enter() -> io::Result<Self> {
        let backend = CrosstermBackend::new(terminal()?);
        let mut terminal = Self {
            inner: ratatui::Terminal::new(backend)?,
        };
        terminal.show()?;
        Ok(terminal)
    }

    fn show(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        let out = self.inner.backend_mut();
        execute!(
            out,
            EnterAlternateScreen,
            EnableMouseCapture,
            EnableBracketedPaste
        )
    }

    fn enter_again(&mut self) -> io::Result<()> {
        // Everything is drawn anew. Its own `clear` asks the terminal for the cursor, by standard output.
        self.inner = ratatui::Terminal::new(CrosstermBackend::new(terminal()?))?;
        self.show()
    }

    fn leave(&mut self) -> io::Result<()> {
        let out = self.inner.backend_mut();
        execute!(
            out,
            DisableBracketedPaste,
            DisableMouseCapture,
            LeaveAlternateScreen
        )?;
        self.inner.show_cursor()?;
        disable_raw_mode()?;
        self.inner.backend_mut().flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The terminal is gone, then.
        let _ = self.leave();
    }
}
