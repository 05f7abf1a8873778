//! A message as a list of properties, and the same in JSON.

use std::path::Path;

use ken_mail::thread::Threaded;
use serde_json::json;

use super::{Address, Mail, Sexp};

/// Returns a message as mu4e expects it; `root` is the folder of all mail.
pub fn mail_plist(mail: &Mail, root: &Path) -> Vec<Sexp> {
    let mut list = Plist::default();
    list.add(":path", Sexp::path(&mail.path));
    list.add(":size", Sexp::number(mail.size));
    list.people(":list-post", &mail.list_post);
    list.people(":bcc", &mail.bcc);
    list.people(":cc", &mail.cc);
    list.add(":changed", time(mail.changed));
    list.add(":date", time(mail.date));
    list.people(":from", &mail.from);
    list.text(":list", &mail.list);
    list.text(":message-id", &mail.id);
    list.add(":priority", Sexp::symbol(&mail.priority));
    list.texts(":references", &mail.references);
    list.people(":reply-to", &mail.reply_to);
    list.text(":subject", &mail.subject);
    list.texts(":tags", &mail.tags);
    list.people(":to", &mail.to);
    list.text(":maildir", &mail.maildir(root));
    let flags = mail.flags().into_iter().map(Sexp::symbol).collect();
    list.add(":flags", Sexp::List(flags));
    list.0
}

/// Returns the position of a message among the messages found, for `:meta`. `date_name` is the name of the empty time
/// in the dialect.
pub(super) fn meta(threaded: Option<&Threaded>, is_related: bool, date_name: &str) -> Sexp {
    let mut list = Plist::default();
    let default = Threaded::default();
    let node = threaded.unwrap_or(&default);
    list.add(":path", Sexp::string(&node.path));
    list.add(":level", Sexp::number(node.level as u64));
    let newest = node.newest.filter(|_| threaded.is_some());
    list.add(
        ":date",
        Sexp::string(newest.map(sortable).unwrap_or_default()),
    );
    list.add(date_name, Sexp::List(vec![Sexp::Number(0); 3]));
    for (is_set, name) in [
        (threaded.is_some() && node.level == 0, ":root"),
        (is_related, ":related"),
        (node.is_first_child, ":first-child"),
        (node.is_last_child, ":last-child"),
        (node.is_orphan, ":orphan"),
        (node.is_duplicate, ":duplicate"),
        (node.has_child, ":has-child"),
        (node.has_new_subject, ":thread-subject"),
    ] {
        if is_set {
            list.add(name, Sexp::flag(true));
        }
    }
    Sexp::List(list.0)
}

/// Returns a time in hexadecimal digits, after a letter for their number.
fn sortable(seconds: i64) -> String {
    let digits = format!("{:x}", seconds.max(0));
    let length = u8::try_from(digits.len()).unwrap_or_default();
    format!("{}{digits}", char::from(b'f' + length))
}

/// Returns a time as Emacs writes it: the upper bits of the seconds, the lower 16 bits, and nothing.
pub(super) fn time(seconds: i64) -> Sexp {
    let seconds = seconds.max(0);
    Sexp::List(
        [seconds >> 16, seconds & 0xffff, 0]
            .map(Sexp::Number)
            .to_vec(),
    )
}

/// A growing list of names and values.
#[derive(Default)]
pub(super) struct Plist(pub(super) Vec<Sexp>);

impl Plist {
    pub(super) fn add(&mut self, name: &str, value: Sexp) {
        self.0.push(Sexp::symbol(name));
        self.0.push(value);
    }

    fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.add(name, Sexp::string(text));
        }
    }

    pub(super) fn texts(&mut self, name: &str, texts: &[String]) {
        if !texts.is_empty() {
            self.add(name, Sexp::List(texts.iter().map(Sexp::string).collect()));
        }
    }

    fn people(&mut self, name: &str, people: &[Address]) {
        if people.is_empty() {
            return;
        }
        let one = |address: &Address| {
            let mut list = Self::default();
            list.text(":name", &address.name);
            list.text(":email", &address.email);
            Sexp::List(list.0)
        };
        self.add(name, Sexp::List(people.iter().map(one).collect()));
    }
}

/// Returns an expression as JSON. Lists of properties become objects in the same order; `with_colons` decides whether
/// names keep their colons.
pub fn json_of(sexp: &Sexp, with_colons: bool) -> String {
    let text = |text: &str| json!(text).to_string();
    match sexp {
        Sexp::Symbol(name) => match name.as_str() {
            "t" => "true".to_owned(),
            "nil" => "null".to_owned(),
            name => text(name),
        },
        Sexp::Number(number) => number.to_string(),
        Sexp::String(bytes) => text(&String::from_utf8_lossy(bytes)),
        Sexp::List(list) => match list.first() {
            Some(Sexp::Symbol(name)) if name.starts_with(':') => object(list, with_colons),
            _ => {
                let values: Vec<String> = list.iter().map(|v| json_of(v, with_colons)).collect();
                format!("[{}]", values.join(", "))
            }
        },
    }
}

fn object(plist: &[Sexp], with_colons: bool) -> String {
    let pairs = plist.chunks_exact(2).filter_map(|pair| {
        let Sexp::Symbol(name) = &pair[0] else {
            return None;
        };
        let name = match with_colons {
            true => name.as_str(),
            false => name.trim_start_matches(':'),
        };
        Some(format!(
            "{}:{}",
            json!(name),
            json_of(&pair[1], with_colons)
        ))
    });
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_emacs_and_mu_do() {
        let text = |sexp: Sexp| String::from_utf8(sexp.to_bytes()).unwrap();
        assert_eq!(text(time(1_767_873_600)), "(26975 40000 0)");
        assert_eq!(text(time(-5)), "(0 0 0)");
        assert_eq!(sortable(1_767_873_600), "n695f9c40");
        assert_eq!(sortable(0), "g0");
    }

    #[test]
    fn a_message_is_a_list_of_properties() {
        let mail = Mail {
            path: "/m/inbox/new/1.a".into(),
            size: 5,
            subject: "A \"b\"".to_owned(),
            from: vec![Address::read("Ann <a@b>")],
            to: vec![Address::read("c@d")],
            id: "1@x".to_owned(),
            priority: "normal".to_owned(),
            ..Mail::default()
        };
        let plist = mail_plist(&mail, Path::new("/m"));
        let text = String::from_utf8(Sexp::List(plist.clone()).to_bytes()).unwrap();
        let expected = "(:path \"/m/inbox/new/1.a\" :size 5 :changed (0 0 0) :date (0 0 0) \
            :from ((:name \"Ann\" :email \"a@b\")) :message-id \"1@x\" :priority normal \
            :subject \"A \\\"b\\\"\" :to ((:email \"c@d\")) :maildir \"/inbox\" \
            :flags (new unread))";
        assert_eq!(text, expected);
        let plist = Sexp::List(plist);
        let json = json_of(&plist, false);
        let start = "{\"path\":\"/m/inbox/new/1.a\",\"size\":5,\"changed\":[0, 0, 0],";
        assert!(json.starts_with(start), "{json}");
        let json: serde_json::Value = serde_json::from_str(&json_of(&plist, true)).unwrap();
        assert_eq!(json[":from"][0][":name"], "Ann");
        assert_eq!(json[":flags"], json!(["new", "unread"]));
    }

    #[test]
    fn what_is_not_in_a_thread_has_an_empty_path() {
        let text = String::from_utf8(meta(None, false, ":date-tstamp").to_bytes()).unwrap();
        let expected = "(:path \"\" :level 0 :date \"\" :date-tstamp (0 0 0))";
        assert_eq!(text, expected);
    }
}
