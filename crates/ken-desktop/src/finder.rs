//! Finds hits while a user types, and describes them.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use ken_core::{Document, Field, Kind, Location};
use ken_search::service::{
    Access, Error, Group, Hit, Reader, Relax, Request, Service, Snippets, day, file_url, title,
};

use crate::{Chosen, Setup};

/// The hits of an answer. GNOME Shell shows three, and says that there are more.
const HITS: usize = 10;
/// The characters of a passage.
const PASSAGE: usize = 120;
/// Milliseconds after which an answer has only what was found until then: the next key is typed.
const DEADLINE: u64 = 300;
/// The hits that are remembered. A desktop asks for what it shows after it has got all of them.
const REMEMBERED: usize = 8 * HITS;

/// A hit as a desktop shows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The identifier of the document.
    pub(crate) id: String,
    /// The title.
    pub(crate) title: String,
    /// The folder, the date and a passage.
    pub(crate) about: String,
    /// The name of the icon, and that of a more general one.
    pub(crate) icons: (String, &'static str),
    /// The URL of the file; none for a member of one.
    pub(crate) url: Option<String>,
}

/// Finds hits in the index.
pub(crate) struct Finder {
    setup: Setup,
    of_settings: RwLock<OfSettings>,
    remembered: Mutex<VecDeque<Entry>>,
}

/// What changes with the settings.
struct OfSettings {
    access: Access,
    reader: Reader,
}

impl OfSettings {
    fn new(access: Access) -> Self {
        let reader = access.reader();
        Self { access, reader }
    }
}

impl Finder {
    pub(crate) fn new(setup: Setup) -> Self {
        let of_settings = RwLock::new(OfSettings::new(setup.access.clone()));
        Self {
            setup,
            of_settings,
            remembered: Mutex::default(),
        }
    }

    pub(crate) fn renew(&self, access: Access) {
        let mut of_settings = self
            .of_settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *of_settings = OfSettings::new(access);
    }

    /// Opens what the user chose.
    pub(crate) fn open(&self, chosen: Chosen) {
        (self.setup.opener)(chosen);
    }

    /// Returns the best hits of words that are being typed.
    pub(crate) fn find(&self, words: &str) -> Result<Vec<Entry>, Error> {
        if words.trim().is_empty() {
            return Ok(Vec::new());
        }
        let entries = self.with_service(|service, deadline_ms| {
            let mut request = Request {
                query: words.to_owned(),
                prefix_last: true,
                relax: Relax::Few,
                group: Some(Group::Similar),
                limit: Some(HITS),
                snippets: Snippets {
                    count: 1,
                    length: PASSAGE,
                },
                deadline_ms: Some(deadline_ms),
                ..Request::default()
            };
            let query = match service.understand_typing(&mut request) {
                // Even without its mistakes it is no query.
                Err(Error::Query(_)) => return Ok(Vec::new()),
                query => query?,
            };
            let answer = service.search(&request, query)?;
            let mut entries = Vec::new();
            answer.each_hit(
                |hit| hit,
                |hit| {
                    entries.push(self.entry_of(service, &hit));
                    Ok::<_, Error>(())
                },
            )?;
            Ok(entries)
        })?;
        self.remember(&entries);
        Ok(entries)
    }

    /// Returns the hits with identifiers, in their order, without those that the index does not have.
    pub(crate) fn entries(&self, ids: &[String]) -> Result<Vec<Entry>, Error> {
        let known: Vec<Option<Entry>> = {
            let remembered = self.remembered();
            let find = |id: &String| remembered.iter().rev().find(|entry| entry.id == *id);
            ids.iter().map(|id| find(id).cloned()).collect()
        };
        let mut entries = Vec::new();
        for (id, known) in ids.iter().zip(known) {
            let entry = match known {
                Some(entry) => Some(entry),
                None => self.with_service(|service, _| {
                    let named = service.document(id)?;
                    Ok(named.map(|named| {
                        let (document, location) = (&named.stored.document, &named.stored.location);
                        self.entry(service, id, document, location, None)
                    }))
                })?,
            };
            entries.extend(entry);
        }
        Ok(entries)
    }

    fn with_service<T>(
        &self,
        ask: impl FnOnce(&Service<'_>, u64) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let of_settings = self
            .of_settings
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let OfSettings { access, reader } = &*of_settings;
        let snapshot = reader.snapshot()?;
        let service = access.service(&*snapshot, &Arc::new(AtomicBool::new(false)));
        let deadline = access.deadline_ms.map_or(DEADLINE, |own| own.min(DEADLINE));
        ask(&service, deadline)
    }

    fn remembered(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, entries: &[Entry]) {
        let mut remembered = self.remembered();
        remembered.extend(entries.iter().cloned());
        let n_before = remembered.len().saturating_sub(REMEMBERED);
        remembered.drain(..n_before);
    }

    fn entry_of(&self, service: &Service<'_>, hit: &Hit) -> Entry {
        let passage = hit.snippets.first();
        let passage = passage.filter(|passage| !passage.highlights.is_empty());
        let passage = passage.map(|passage| passage.text.as_str());
        self.entry(service, &hit.id, &hit.document, &hit.location, passage)
    }

    fn entry(
        &self,
        service: &Service<'_>,
        id: &str,
        document: &Document,
        location: &Location,
        passage: Option<&str>,
    ) -> Entry {
        let visible = |text: &str| (self.setup.visible)(text).into_owned();
        let name = match location.ipath.is_root() {
            true => location.file_name(),
            false => location.ipath.as_str().to_owned(),
        };
        let context = service.context();
        let folder = location.path.parent().unwrap_or(&location.path);
        let home = context.home.as_deref();
        let folder = match home.and_then(|home| folder.strip_prefix(home).ok()) {
            Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
            Some(below) => format!("~/{}", below.display()),
            None => folder.display().to_string(),
        };
        let sender = (document.kind == Kind::Message).then(|| document.text(Field::Author));
        let date = document.number(Field::Date);
        let about = [
            sender.flatten().map(str::to_owned),
            Some(folder),
            date.map(|date| day(date, &context.zone)),
            passage.map(|passage| passage.split_whitespace().collect::<Vec<_>>().join(" ")),
        ];
        let about: Vec<String> = about.into_iter().flatten().collect();
        Entry {
            id: id.to_owned(),
            title: visible(title(document).unwrap_or(&name)),
            about: visible(&about.join(" · ")),
            icons: (
                document.media_type.replace('/', "-"),
                general_icon(document.kind),
            ),
            url: location.ipath.is_root().then(|| file_url(&location.path)),
        }
    }
}

/// Returns the icon of a type that every set of icons has (Icon Naming Specification 0.8.90).
fn general_icon(kind: Kind) -> &'static str {
    match kind {
        Kind::Document => "x-office-document",
        Kind::Spreadsheet => "x-office-spreadsheet",
        Kind::Presentation => "x-office-presentation",
        Kind::Message => "mail-read",
        Kind::Source => "text-x-script",
        Kind::Image => "image-x-generic",
        Kind::Audio => "audio-x-generic",
        Kind::Video => "video-x-generic",
        Kind::Archive => "package-x-generic",
        Kind::Data | Kind::Other => "text-x-generic",
    }
}
