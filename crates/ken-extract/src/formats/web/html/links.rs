//! The targets of links to other sites, which follow the text of a page. What the text shows, and what leads to the site that the page is
//! from, is left out.

use std::collections::HashSet;

use super::tags::Attributes;
use crate::output::body::link_text;
use crate::text::entities;

/// Maximum number of targets of one page.
const MAX_LINKS: usize = 1000;
/// Longer targets count readers or carry data.
const MAX_LINK_BYTES: usize = 300;

/// The targets found so far, each once.
#[derive(Debug, Default)]
pub(super) struct Links {
    targets: Vec<String>,
    seen: HashSet<String>,
    /// Whether the text since the last target is its label.
    is_open: bool,
    /// The site that the page is from.
    site: Option<String>,
}

impl Links {
    /// Takes the attributes of `<a …>`, behind its name.
    pub(super) fn begin(&mut self, attributes: &str) {
        self.is_open = false;
        // Links within a site mostly have no scheme.
        if memchr::memchr(b':', attributes.as_bytes()).is_none() {
            return;
        }
        let is_target = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case("href");
        if let Some((_, target)) = Attributes::new(attributes, 0).find(is_target) {
            self.is_open = self.add(&entities::decode(target, true));
        }
    }

    /// Adds a target that leads elsewhere; returns whether it is new.
    fn add(&mut self, target: &str) -> bool {
        let target = target.trim();
        if !leads_elsewhere(target) || target.len() > MAX_LINK_BYTES {
            return false;
        }
        let target = link_text(target);
        if target.trim().is_empty() {
            return false;
        }
        let is_new = self.targets.len() < MAX_LINKS && self.seen.insert(target.clone());
        if is_new {
            self.targets.push(target);
        }
        is_new
    }

    /// Ends a link, whose label is the end of `text`.
    pub(super) fn end(&mut self, text: &str) {
        let is_open = std::mem::take(&mut self.is_open);
        let end = |text: &str| text.trim_end_matches(['/', ' ']).len();
        if let Some(target) = self.targets.last().filter(|_| is_open)
            && text[..end(text)].ends_with(&target[..end(target)])
        {
            self.targets.pop();
        }
    }

    /// Notes the address of the page itself.
    pub(super) fn set_site(&mut self, address: &str) {
        if self.site.is_none() {
            self.site = site(address.trim()).map(str::to_owned);
        }
    }

    /// Adds the targets of a page in a frame.
    pub(super) fn add_all(&mut self, other: Self) {
        for target in other.targets {
            if self.targets.len() < MAX_LINKS && self.seen.insert(target.clone()) {
                self.targets.push(target);
            }
        }
    }

    /// Adds the targets to the text of the page.
    pub(super) fn add_to(&self, text: &mut String) {
        for target in &self.targets {
            if self.site.is_some() && site(target) == self.site.as_deref() {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(target);
        }
    }
}

fn leads_elsewhere(target: &str) -> bool {
    let scheme = target.split_once(':').map_or("", |(scheme, _)| scheme);
    let schemes = ["http", "https", "ftp", "mailto"];
    schemes
        .iter()
        .any(|known| known.eq_ignore_ascii_case(scheme))
}

/// Returns the host of an address, without `www.`.
fn site(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit('@').next()?.split(':').next()?;
    Some(host.strip_prefix("www.").unwrap_or(host)).filter(|host| !host.is_empty())
}
