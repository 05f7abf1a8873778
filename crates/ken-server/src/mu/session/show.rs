//! Requests that change nothing.

use std::io::Write;

use ken_mail::Contact;

use super::super::contacts::ContactQuery;
use super::super::error::ErrorKind;
use super::super::fields::MailColumn;
use super::super::find::{Find, Found};
use super::super::plist::{Plist, mail_plist, meta};
use super::super::request::Request;
use super::super::{Address, Error, Mail, Sexp};
use super::{Answered, Session};

/// The number of messages in the first list of an answer, and in the others.
const OLD_BATCHES: (usize, usize) = (110, 110);
const NEW_BATCHES: (usize, usize) = (200, 5_000);

impl<W: Write> Session<W> {
    /// Returns a message with its number.
    pub(super) fn plist(&mut self, mail: &Mail) -> Vec<Sexp> {
        let mut plist = Plist(mail_plist(mail, self.store.maildir()));
        if self.version.is_new {
            plist.texts(":labels", &mail.tags);
        }
        plist.add(":docid", Sexp::Number(self.docids.of(mail)));
        plist.0
    }

    pub(super) fn ping(&mut self, request: &Request) -> Answered {
        let (n_messages, _) = self.store.count("")?;
        let personal = self.store.personal().texts();
        let personal = personal.iter().map(Sexp::string).collect();
        let mut props = Plist::default();
        props.add(":version", Sexp::string(self.version.text()));
        props.add(":personal-addresses", Sexp::List(personal));
        props.add(":database-path", Sexp::path(self.store.data()));
        props.add(":root-maildir", Sexp::path(self.store.maildir()));
        props.add(":doccount", Sexp::number(n_messages as u64));
        if !self.version.is_new {
            props.add(":queries", self.counted(request)?);
        }
        let mut pong = Plist::default();
        pong.add(":pong", Sexp::string("mu"));
        pong.add(":props", Sexp::List(props.0));
        Ok(self.send(pong)?)
    }

    pub(super) fn queries(&mut self, request: &Request) -> Answered {
        let mut list = Plist::default();
        list.add(":queries", self.counted(request)?);
        Ok(self.send(list)?)
    }

    /// Returns how many messages the queries of a request find. A query with a mistake finds none: the other queries,
    /// most likely bookmarks, are still counted.
    fn counted(&mut self, request: &Request) -> Result<Sexp, Error> {
        let mut counted = Vec::new();
        for query in request.texts(":queries")? {
            let (count, unread) = match self.store.count(&query) {
                Err(error) if error.kind != ErrorKind::Query => return Err(error),
                counts => counts.unwrap_or_default(),
            };
            let mut one = Plist::default();
            one.add(":query", Sexp::string(&query));
            one.add(":count", Sexp::number(count as u64));
            one.add(":unread", Sexp::number(unread as u64));
            counted.push(Sexp::List(one.0));
        }
        Ok(Sexp::List(counted))
    }

    pub(super) fn find(&mut self, request: &Request) -> Answered {
        let query = request.text(":query")?;
        let threads = request.flag(":threads");
        let sort = request.symbol(":sortfield")?;
        let sort = match sort.as_deref() {
            None => MailColumn::Date,
            Some(_) if threads && self.version.is_new => MailColumn::Date,
            Some(name) => MailColumn::from_name(name).ok_or_else(|| {
                Error::new(ErrorKind::Argument, format!("invalid sort field {name}"))
            })?,
        };
        let find = Find {
            query: request.required(":query", query)?,
            sort,
            descending: request.flag(":descending"),
            limit: usize::try_from(request.number(":maxnum")?.unwrap_or(-1)).ok(),
            threads,
            skip_dups: request.flag(":skip-dups"),
            related: request.flag(":include-related"),
            after: None,
        };
        let batch_size = request.number(":batch-size")?;
        let found = self.store.find(&find)?;
        self.erase()?;
        self.headers(
            &found,
            batch_size.and_then(|size| usize::try_from(size).ok()),
        )?;
        let mut list = Plist::default();
        list.add(":found", Sexp::number(found.len() as u64));
        if self.version.is_new {
            let (read, plan) = self.store.explain(&find.query)?;
            list.add(":query", Sexp::string(&find.query));
            list.add(":query-sexp", Sexp::string(read));
            list.add(":query-sexp-expanded", Sexp::string(plan));
            describe(&find, request, &mut list);
        }
        Ok(self.send(list)?)
    }

    fn erase(&mut self) -> std::io::Result<()> {
        let mut list = Plist::default();
        list.add(":erase", Sexp::flag(true));
        self.send(list)
    }

    /// Sends the messages found in several lists, so that the first ones appear soon.
    fn headers(&mut self, found: &[Found], batch_size: Option<usize>) -> std::io::Result<()> {
        let (first, others) = match (batch_size, self.version.is_new) {
            (Some(size), _) if size > 0 => (size, size),
            (_, true) => NEW_BATCHES,
            (_, false) => OLD_BATCHES,
        };
        let (start, rest) = found.split_at(found.len().min(first));
        for batch in std::iter::once(start).chain(rest.chunks(others)) {
            if batch.is_empty() {
                continue;
            }
            let headers = batch.iter().map(|found| self.header(found)).collect();
            let mut list = Plist::default();
            list.add(":headers", Sexp::List(headers));
            self.send(list)?;
        }
        Ok(())
    }

    fn header(&mut self, found: &Found) -> Sexp {
        let date_name = match self.version.is_new {
            true => ":data-tstamp",
            false => ":date-tstamp",
        };
        let mut header = Plist(self.plist(&found.mail));
        let meta_list = meta(found.threaded.as_ref(), found.is_related, date_name);
        header.add(":meta", meta_list);
        Sexp::List(header.0)
    }

    pub(super) fn contacts(&mut self, request: &Request) -> Answered {
        let known = request.text(":tstamp")?;
        let known: i64 = known.and_then(|text| text.parse().ok()).unwrap_or(0);
        let after = match request.text(":after")? {
            Some(text) => self.store.time(&text)?,
            None => 0,
        };
        let limit = request.number(":maxnum")?;
        let query = ContactQuery {
            pattern: None,
            personal: request.flag(":personal"),
            after,
            limit: limit
                .and_then(|limit| usize::try_from(limit).ok())
                .filter(|limit| *limit > 0),
        };
        let now = self.store.committed_at()?;
        // The client knows the contacts that did not change since then.
        let contacts = match now > known {
            true => self.store.contacts(&query)?,
            false => Vec::new(),
        };
        let texts = contacts.into_iter().map(|contact| {
            let Contact { name, address, .. } = contact;
            let email = address;
            Sexp::string(Address { name, email }.quoted())
        });
        let mut list = Plist::default();
        list.add(":contacts", Sexp::List(texts.collect()));
        list.add(":tstamp", Sexp::string(now.max(known).to_string()));
        Ok(self.send(list)?)
    }

    pub(super) fn data(&mut self, request: &Request) -> Answered {
        let kind = request.symbol(":kind")?;
        let kind = request.required(":kind", kind)?;
        let names = match kind.as_str() {
            "maildirs" => self.store.maildirs()?,
            "labels" => self.store.labels()?,
            _ => {
                let message = format!("unknown data :kind {kind}");
                return Err(Error::new(ErrorKind::Argument, message).into());
            }
        };
        let mut list = Plist::default();
        let names = names.iter().map(Sexp::string).collect();
        list.add(&format!(":{kind}"), Sexp::List(names));
        Ok(self.send(list)?)
    }
}

/// Describes the search as mu 1.12 does.
fn describe(find: &Find, request: &Request, list: &mut Plist) {
    let limit = find
        .limit
        .map_or(-1, |limit| i64::try_from(limit).unwrap_or(-1));
    list.add(":maxnum", Sexp::Number(limit));
    let sort = request.symbol(":sortfield").ok().flatten();
    let sort = sort
        .filter(|_| !find.threads)
        .unwrap_or_else(|| ":date".to_owned());
    list.add(":sort-field", Sexp::symbol(&sort));
    for (is_set, name) in [
        (limit == -1, ":full"),
        (find.descending, ":descending"),
        (find.threads, ":threads"),
        (find.related, ":include-related"),
        (find.skip_dups, ":skip-dups"),
    ] {
        if is_set {
            list.add(name, Sexp::flag(true));
        }
    }
}
