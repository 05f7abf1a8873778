//! What the objects of a document say together: sheets have tables, tables have rows of cells, and cells refer to texts in
//! lists. Objects refer to one another by number, in any order and across files, so they are gathered first.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::add_lines;
use super::cell::{Row, Value, rows};
use super::iwa::{Message, Object};
use crate::output::body::Body;

/// The text of a body, a text box, a header, a note, a cell with styles.
const STORAGE: u64 = 2001;
/// A table on a sheet or page.
const TABLE_INFO: u64 = 6000;
const TABLE: u64 = 6001;
/// Rows of a table.
const TILE: u64 = 6002;
/// Texts that the cells of a table refer to, and a part of a long list.
const DATA_LIST: u64 = 6005;
const DATA_LIST_SEGMENT: u64 = 6011;
/// What a list refers to for a text with styles.
const PAYLOAD: u64 = 6218;
/// Only in Numbers.
const SHEET: u64 = 2;
/// Rows of a tile, if the table does not say.
const TILE_ROWS: u64 = 256;

/// What a cell counts of the text, at least.
const CELL_BYTES: usize = 4;

/// The objects that hold text, by their numbers.
pub(super) struct Gathered {
    /// The largest text, beyond which more would be cut off.
    max_bytes: usize,
    n_bytes: usize,
    ids: HashSet<u64>,
    /// How many objects have the number of another.
    n_again: u64,
    items: Vec<Item>,
    sheets: Vec<(String, Vec<u64>)>,
    infos: HashMap<u64, u64>,
    tables: BTreeMap<u64, Table>,
    tiles: HashMap<u64, Vec<Row>>,
    lists: HashMap<u64, List>,
    payloads: HashMap<u64, u64>,
    texts: HashMap<u64, String>,
}

/// What follows one another in a document.
enum Item {
    Text(u64),
    List(u64),
    Table(u64),
    EndOfSlide,
}

#[derive(Default)]
struct Table {
    name: String,
    /// The tiles with the number of their first rows.
    tiles: Vec<(u64, u64)>,
    /// Its lists of texts without and with styles.
    texts: Option<u64>,
    styled: Option<u64>,
    /// All rows; none if a part of them cannot be read.
    rows: Vec<Row>,
}

#[derive(Default)]
struct List {
    texts: BTreeMap<u32, String>,
    payloads: HashMap<u32, u64>,
    segments: Vec<u64>,
}

impl Gathered {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            n_bytes: 0,
            ids: HashSet::new(),
            n_again: 0,
            items: Vec::new(),
            sheets: Vec::new(),
            infos: HashMap::new(),
            tables: BTreeMap::new(),
            tiles: HashMap::new(),
            lists: HashMap::new(),
            payloads: HashMap::new(),
            texts: HashMap::new(),
        }
    }

    /// Returns whether more text would only be cut off.
    pub(super) fn is_full(&self) -> bool {
        self.n_bytes > self.max_bytes
    }

    pub(super) fn end_slide(&mut self) {
        self.items.push(Item::EndOfSlide);
    }

    /// Takes an object in.
    pub(super) fn add(&mut self, object: &Object<'_>, is_numbers: bool) {
        if self.is_full() {
            return;
        }
        let message = object.message;
        // A number is given once; nothing is lost where it is not.
        let id = match self.ids.insert(object.id) {
            true => object.id,
            false => {
                self.n_again += 1;
                u64::MAX - self.n_again
            }
        };
        match object.kind {
            STORAGE => {
                let text: Vec<&str> = message.texts(3).collect();
                self.n_bytes += text.iter().map(|text| text.len()).sum::<usize>();
                self.texts.insert(id, text.join("\n"));
                self.items.push(Item::Text(id));
            }
            DATA_LIST | DATA_LIST_SEGMENT => {
                let list = list(message);
                self.n_bytes += list.texts.values().map(String::len).sum::<usize>();
                self.lists.insert(id, list);
                self.items.push(Item::List(id));
            }
            TABLE => {
                self.tables.insert(id, table(message));
                self.items.push(Item::Table(id));
            }
            TILE => {
                let max_cells = (self.max_bytes - self.n_bytes) / CELL_BYTES;
                if let Some(rows) = rows(message, max_cells) {
                    let n_cells: usize = rows.iter().map(|row| row.cells.len()).sum();
                    self.n_bytes += n_cells * CELL_BYTES;
                    self.tiles.insert(id, rows);
                }
            }
            TABLE_INFO => drop(
                message
                    .reference(2)
                    .map(|table| self.infos.insert(id, table)),
            ),
            PAYLOAD => drop(
                message
                    .reference(1)
                    .map(|text| self.payloads.insert(id, text)),
            ),
            SHEET if is_numbers => {
                let name = message.texts(1).next().unwrap_or_default().to_owned();
                let drawn = message.messages(2).filter_map(|drawn| drawn.number(1));
                self.sheets.push((name, drawn.collect()));
            }
            _ => {}
        }
    }

    /// Writes the sheets with their tables, then what is beside them.
    pub(super) fn write(mut self, body: &mut Body) {
        self.assemble();
        let mut shown = self.in_cells();
        for (number, (name, drawn)) in self.sheets.iter().enumerate() {
            if number > 0 {
                body.end_page();
            }
            add_lines(name, body);
            for id in drawn.iter().filter_map(|id| self.infos.get(id)) {
                if shown.insert(*id) {
                    self.write_table(*id, body);
                }
            }
        }
        for item in &self.items {
            match item {
                Item::EndOfSlide => body.end_page(),
                Item::Text(id) | Item::List(id) | Item::Table(id) if shown.contains(id) => {}
                Item::Table(id) => self.write_table(*id, body),
                Item::Text(id) => add_lines(&self.texts[id], body),
                Item::List(id) => self.write_list(*id, body),
            }
            if body.is_full() {
                break;
            }
        }
    }

    /// Moves the rows into their tables, and the parts of lists into the lists.
    fn assemble(&mut self) {
        for table in self.tables.values_mut() {
            let mut rows = Vec::new();
            let mut is_whole = true;
            for (first, tile) in &table.tiles {
                let tile = self.tiles.remove(tile);
                is_whole &= tile.is_some();
                let tile = tile.into_iter().flatten();
                rows.extend(tile.map(|row| Row {
                    number: first.saturating_add(row.number),
                    ..row
                }));
            }
            if is_whole {
                rows.sort_by_key(|row| row.number);
                table.rows = rows;
            }
        }
        let ids: Vec<u64> = self.lists.keys().copied().collect();
        for id in ids {
            let list = self.lists.get_mut(&id);
            let segments = list.map(|list| std::mem::take(&mut list.segments));
            for segment in segments
                .into_iter()
                .flatten()
                .filter(|segment| *segment != id)
            {
                if let Some(segment) = self.lists.remove(&segment)
                    && let Some(list) = self.lists.get_mut(&id)
                {
                    list.texts.extend(segment.texts);
                    list.payloads.extend(segment.payloads);
                }
            }
        }
    }

    /// Returns the numbers of lists and texts that tables show in their cells.
    fn in_cells(&self) -> HashSet<u64> {
        let mut shown = HashSet::new();
        for table in self.tables.values().filter(|table| !table.rows.is_empty()) {
            shown.extend([table.texts, table.styled].into_iter().flatten());
            for (_, value) in table.rows.iter().flat_map(|row| &row.cells) {
                if let Value::Styled(key) = value {
                    shown.extend(self.styled(table, *key));
                }
            }
        }
        shown
    }

    fn write_table(&self, id: u64, body: &mut Body) {
        let Some(table) = self.tables.get(&id) else {
            return;
        };
        add_lines(&table.name, body);
        for row in &table.rows {
            if body.is_full() {
                break;
            }
            body.begin_row();
            for (column, value) in &row.cells {
                body.begin_cell_at((*column).into());
                body.push(&self.text(table, *value));
                body.end_cell();
            }
            body.end_row();
        }
    }

    fn text(&self, table: &Table, value: Value) -> Cow<'_, str> {
        let text = match value {
            Value::Text(key) => {
                let list = table.texts.and_then(|id| self.lists.get(&id));
                list.and_then(|list| list.texts.get(&key))
            }
            Value::Styled(key) => self.styled(table, key).and_then(|id| self.texts.get(&id)),
            _ => return value.show().into(),
        };
        text.map_or("", String::as_str).into()
    }

    /// Returns the number of a text with styles.
    fn styled(&self, table: &Table, key: u32) -> Option<u64> {
        let payload = self.lists.get(&table.styled?)?.payloads.get(&key)?;
        self.payloads.get(payload).copied()
    }

    fn write_list(&self, id: u64, body: &mut Body) {
        // Parts are within their lists.
        let texts = self.lists.get(&id).map(|list| list.texts.values());
        texts
            .into_iter()
            .flatten()
            .for_each(|text| add_lines(text, body));
    }
}

fn list(message: Message<'_>) -> List {
    let mut list = List::default();
    for entry in message.messages(3) {
        let Ok(key) = u32::try_from(entry.number(1).unwrap_or_default()) else {
            continue;
        };
        if let Some(text) = entry.texts(3).next() {
            list.texts.insert(key, text.to_owned());
        }
        list.payloads
            .extend(entry.reference(9).map(|payload| (key, payload)));
    }
    let segments = message.messages(4);
    list.segments = segments.filter_map(|segment| segment.number(1)).collect();
    list
}

fn table(message: Message<'_>) -> Table {
    let mut table = Table {
        name: message.texts(8).next().unwrap_or_default().to_owned(),
        ..Table::default()
    };
    let Some(store) = message.messages(4).next() else {
        return table;
    };
    table.texts = store.reference(4);
    table.styled = store.reference(17);
    if let Some(tiles) = store.messages(3).next() {
        let n_rows = tiles.number(2).unwrap_or(TILE_ROWS);
        let tiles = tiles.messages(1).filter_map(|tile| {
            let number = tile.number(1).unwrap_or_default();
            Some((number.saturating_mul(n_rows), tile.reference(2)?))
        });
        table.tiles = tiles.collect();
    }
    table
}
