//! Puts the state on the screen.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::row::{Piece, Row, from_match, path_text};
use crate::state::{Mode, Place, State};
use crate::view::ViewRow;

/// From this width on, the text stands beside the list, not below it.
const WIDE: u16 = 110;
/// The columns of the numbers of lines.
const NUMBERS: usize = 5;
/// The columns of a passage behind a long path.
const MIN_PASSAGE: usize = 20;
/// With fewer rows, a hit takes two lines instead of three.
const TALL: u16 = 12;

const KEYS: &[(&str, &str)] = &[
    ("Enter", "open the document at the match"),
    ("Alt-Enter, Ctrl-O", "open its folder"),
    ("Up, Down, PgUp, PgDn", "another hit (also Ctrl-P, Ctrl-N)"),
    ("Tab", "mark the hit, or take the mark away"),
    ("Ctrl-Y", "leave, and print the marked addresses"),
    ("Ctrl-G", "search lines with a pattern, or documents"),
    ("Ctrl-F", "search only below a folder"),
    ("Ctrl-T", "search only the next type of documents"),
    (
        "Shift-Up, Shift-Down",
        "move the text (with PgUp, PgDn by pages)",
    ),
    ("Alt-N, Alt-P", "next match in the text, or the one before"),
    ("Ctrl-U, Ctrl-W", "remove the query, or its last word"),
    ("Esc, Ctrl-C", "leave"),
];

/// The looks of the parts of the screen.
#[derive(Clone, Copy)]
pub(crate) struct Looks {
    has_color: bool,
}

impl Looks {
    pub(crate) fn new(has_color: bool) -> Self {
        Self { has_color }
    }

    fn color(self, color: Color) -> Style {
        match self.has_color {
            true => Style::new().fg(color),
            false => Style::new(),
        }
    }

    /// Bright black is the background itself in some palettes (Solarized), so what is quiet has no colour.
    fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn mark(self) -> Style {
        self.color(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    fn title(self) -> Style {
        self.color(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    fn wrong(self) -> Style {
        self.color(Color::Red)
    }
}

/// Draws everything, and remembers where the list and the text are.
pub(crate) fn draw(frame: &mut Frame<'_>, state: &mut State, looks: Looks) {
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(1),
    ]);
    let [field, facets, middle, foot] = rows.areas(frame.area());
    draw_field(frame, field, state, looks);
    frame.render_widget(facet_line(state, looks), facets);
    let (list, text) = match frame.area().width >= WIDE {
        true => {
            let halves = Layout::horizontal([Constraint::Percentage(48), Constraint::Fill(1)]);
            let [list, text] = halves.areas(middle);
            (list, framed(frame, text, Borders::LEFT, looks))
        }
        false => {
            let halves = Layout::vertical([Constraint::Percentage(55), Constraint::Fill(1)]);
            let [list, text] = halves.areas(middle);
            (list, framed(frame, text, Borders::TOP, looks))
        }
    };
    state.list = place(list);
    state.row_height = match state.ask.mode {
        Mode::Grep => 1,
        Mode::Search if list.height < TALL => 2,
        Mode::Search => 3,
    };
    state.follow();
    draw_list(frame, list, state, looks);
    draw_text(frame, text, state, looks);
    frame.render_widget(foot_line(state, looks), foot);
    if state.is_help {
        draw_help(frame, looks);
    }
}

fn place(area: Rect) -> Place {
    Place {
        x: area.x,
        y: area.y,
        width: area.width,
        height: area.height,
    }
}

fn framed(frame: &mut Frame<'_>, area: Rect, borders: Borders, looks: Looks) -> Rect {
    let block = Block::new().borders(borders).border_style(looks.quiet());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

fn draw_field(frame: &mut Frame<'_>, area: Rect, state: &State, looks: Looks) {
    let (name, field) = match (&state.typing_folder, state.ask.mode) {
        (Some(folder), _) => ("folder> ", folder),
        (None, Mode::Search) => ("search> ", &state.query),
        (None, Mode::Grep) => ("grep> ", &state.query),
    };
    // The style of a line would be that of the whole row, so also that of the query.
    let count = Line::from(Span::styled(count(state), looks.quiet())).right_aligned();
    let room = usize::from(area.width).saturating_sub(name.len() + count.width() + 2);
    // The cursor is always on the screen.
    let before = field.before();
    let (mut start, mut used) = (before.len(), 0);
    for (at, character) in before.char_indices().rev() {
        used += character.width().unwrap_or(0);
        if used >= room {
            break;
        }
        start = at;
    }
    let at = name.len() + before[start..].width();
    let style = match field.is_proposed() {
        true => Style::new().add_modifier(Modifier::REVERSED),
        false => Style::new(),
    };
    let shown = Line::from(vec![
        Span::styled(name, looks.title()),
        Span::styled(field.text()[start..].to_owned(), style),
    ]);
    frame.render_widget(count, area);
    let left = Rect {
        width: area
            .width
            .min(u16::try_from(name.len() + room).unwrap_or(u16::MAX)),
        ..area
    };
    frame.render_widget(shown, left);
    let column = area.x.saturating_add(u16::try_from(at).unwrap_or(u16::MAX));
    frame.set_cursor_position(Position::new(
        column.min(area.right().saturating_sub(1)),
        area.y,
    ));
}

/// Returns how much was found, and how long it took.
fn count(state: &State) -> String {
    let found = &state.found;
    if state.is_waiting && found.time.as_millis() == 0 {
        return String::new();
    }
    let nothing_asked = state.ask == crate::state::Ask::default();
    if nothing_asked || found.problem.is_some() {
        return String::new();
    }
    let least = if found.is_complete { "" } else { "at least " };
    let what = match (state.ask.mode, found.total) {
        (Mode::Search, 1) => "document",
        (Mode::Search, _) => "documents",
        (Mode::Grep, 1) => "line",
        (Mode::Grep, _) => "lines",
    };
    format!(
        "{least}{} {what}, {} ms",
        found.total,
        found.time.as_millis()
    )
}

/// Returns the types that were found, and the folder to which the search is limited.
fn facet_line(state: &State, looks: Looks) -> Line<'static> {
    let mut spans = Vec::new();
    let here = (state.ask.mode == Mode::Grep).then_some(&state.here);
    if let Some(folder) = state.ask.folder.as_ref().or(here) {
        let folder = path_text(folder, state.home.as_deref());
        spans.push(Span::styled(format!("in {folder}  "), looks.title()));
    }
    if state.ask.mode == Mode::Search && !state.found.types.is_empty() {
        let chosen = |is_chosen| match is_chosen {
            true => Style::new().add_modifier(Modifier::REVERSED),
            false => looks.quiet(),
        };
        spans.push(Span::styled(" all ", chosen(state.ask.kind.is_none())));
        for (name, count) in &state.found.types {
            let is_chosen = state.ask.kind.as_ref() == Some(name);
            spans.push(Span::styled(format!(" {name} {count} "), chosen(is_chosen)));
        }
    }
    Line::from(spans)
}

fn spans(pieces: &[Piece], plain: Style, mark: Style) -> Vec<Span<'static>> {
    let span =
        |piece: &Piece| Span::styled(piece.text.clone(), if piece.mark { mark } else { plain });
    pieces.iter().map(span).collect()
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, state: &State, looks: Looks) {
    if state.found.rows.is_empty() {
        frame.render_widget(Paragraph::new(nothing(state, looks)), area);
        return;
    }
    let height = u16::try_from(state.row_height).unwrap_or(1);
    let rows = state.found.rows.iter().enumerate().skip(state.first);
    let tops = (area.y..area.bottom()).step_by(usize::from(height));
    for ((at, row), y) in rows.zip(tops) {
        let is_chosen = at == state.chosen;
        let is_marked = state.marked.contains(&row.mark());
        let width = usize::from(area.width);
        let lines = row_lines(row, (width, state.row_height), is_marked, looks);
        let spot = Rect {
            y,
            height: height.min(area.bottom() - y),
            ..area
        };
        let style = match is_chosen {
            true => Style::new().add_modifier(Modifier::REVERSED),
            false => Style::new(),
        };
        // Only the first line is reversed: passages stay easy to read.
        for (line, y) in lines.into_iter().zip(spot.y..spot.bottom()) {
            let line = if y == spot.y {
                line.patch_style(style)
            } else {
                line
            };
            frame.render_widget(
                line,
                Rect {
                    y,
                    height: 1,
                    ..spot
                },
            );
        }
        if is_chosen && spot.height > 1 {
            for y in spot.y + 1..spot.bottom() {
                let bar = Span::styled("▌", looks.title());
                frame.render_widget(
                    bar,
                    Rect {
                        y,
                        height: 1,
                        width: 1.min(spot.width),
                        ..spot
                    },
                );
            }
        }
    }
}

/// Returns the lines of a hit, for a width and a height.
fn row_lines(
    row: &Row,
    (width, height): (usize, usize),
    is_marked: bool,
    looks: Looks,
) -> Vec<Line<'static>> {
    let mark = match is_marked {
        true => Span::styled("● ", looks.mark()),
        false => Span::raw("  "),
    };
    let passage = |first: Span<'static>| {
        let mut line = vec![first];
        let passage = from_match(&row.passage, width.saturating_sub(2));
        line.extend(spans(&passage, Style::new(), looks.mark()));
        Line::from(line)
    };
    if height == 1 {
        let place = match row.line {
            Some(line) => format!("{}:{line}: ", row.about),
            None => format!("{}: ", row.about),
        };
        let mut line = vec![mark, Span::styled(place, looks.quiet())];
        let room = width.saturating_sub(line.iter().map(Span::width).sum());
        let passage = from_match(&row.passage, room.max(MIN_PASSAGE));
        line.extend(spans(&passage, Style::new(), looks.mark()));
        return vec![Line::from(line)];
    }
    let mut title = vec![mark];
    title.extend(spans(&row.title, looks.title(), looks.mark()));
    let about = Line::from(vec![
        Span::raw("  "),
        Span::styled(row.about.clone(), looks.quiet()),
    ]);
    match height {
        2 => vec![Line::from(title), about],
        _ => vec![Line::from(title), about, passage(Span::raw("  "))],
    }
}

/// Returns what stands in an empty list.
fn nothing(state: &State, looks: Looks) -> Vec<Line<'static>> {
    let found = &state.found;
    if let Some(problem) = &found.problem {
        let lines = problem
            .lines()
            .map(|line| Line::styled(format!("  {line}"), looks.wrong()));
        return lines.collect();
    }
    let text = match state.ask.mode {
        _ if state.is_waiting => "",
        Mode::Search if state.ask == crate::state::Ask::default() => {
            "Type what you look for. F1 shows all keys."
        }
        Mode::Grep if state.ask.query.is_empty() => "Type a regular expression. F1 shows all keys.",
        Mode::Search => "No document was found.",
        Mode::Grep => "No line was found.",
    };
    vec![
        Line::raw(""),
        Line::styled(format!("  {text}"), looks.quiet()),
    ]
}

fn draw_text(frame: &mut Frame<'_>, area: Rect, state: &mut State, looks: Looks) {
    let head: Vec<Line<'_>> = state
        .view
        .text
        .head
        .iter()
        .enumerate()
        .map(|(at, line)| {
            let style = if at == 0 {
                looks.title()
            } else {
                looks.quiet()
            };
            Line::styled(line.clone(), style)
        })
        .collect();
    let n_head = u16::try_from(head.len()).unwrap_or(0).min(area.height / 2);
    let parts = Layout::vertical([Constraint::Length(n_head), Constraint::Min(0)]);
    let [top, body] = parts.areas(area);
    frame.render_widget(Paragraph::new(head), top);
    state.text = place(body);
    if let Some(problem) = &state.view.text.problem {
        frame.render_widget(Line::styled(problem.clone(), looks.quiet()), body);
        return;
    }
    let room = usize::from(body.width).saturating_sub(NUMBERS + 1);
    let rows = state.view.fit(room, usize::from(body.height));
    let lines = rows
        .iter()
        .map(|row| view_line(row, usize::from(body.width), looks));
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), body);
}

fn view_line(row: &ViewRow, width: usize, looks: Looks) -> Line<'static> {
    if row.is_rule {
        return Line::styled("─".repeat(width), looks.quiet());
    }
    let number = match row.number {
        Some(number) => format!("{number:>NUMBERS$} "),
        None => " ".repeat(NUMBERS + 1),
    };
    let mut line = vec![Span::styled(number, looks.quiet())];
    line.extend(spans(&row.pieces, Style::new(), looks.mark()));
    Line::from(line)
}

fn foot_line(state: &State, looks: Looks) -> Line<'static> {
    if let Some(note) = state.note.as_ref().or(state.found.remark.as_ref()) {
        return Line::styled(note.clone(), looks.mark());
    }
    let marked = match state.marked.len() {
        0 => String::new(),
        n => format!("{n} marked  "),
    };
    let enter = if state.enter_prints { "take" } else { "open" };
    let mode = match state.ask.mode {
        Mode::Search => "grep",
        Mode::Grep => "search",
    };
    let keys = format!(
        "{marked}F1 keys  Esc quit  Enter {enter}  Tab mark  ^Y print  ^G {mode}  ^F folder  ^T type"
    );
    Line::styled(keys, looks.quiet())
}

fn draw_help(frame: &mut Frame<'_>, looks: Looks) {
    let area = frame.area();
    let n_rows = u16::try_from(KEYS.len()).unwrap_or(0) + 2;
    let spot = Rect {
        x: area.x + 2.min(area.width),
        y: area.y + 1.min(area.height),
        width: area.width.saturating_sub(4),
        height: n_rows.min(area.height.saturating_sub(1)),
    };
    let line = |(key, what): &(&'static str, &'static str)| {
        Line::from(vec![
            Span::styled(format!(" {key:<22}"), looks.title()),
            Span::raw(*what),
        ])
    };
    let lines: Vec<Line<'_>> = KEYS.iter().map(line).collect();
    frame.render_widget(Clear, spot);
    let block = Block::bordered()
        .border_style(looks.quiet())
        .title(" Keys ");
    frame.render_widget(Paragraph::new(lines).block(block), spot);
}
