//! What of the target of a link is text.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Returns the words of a link target: without escapes, without the scheme of addresses of mail, and without a user and a password.
pub(crate) fn link_text(target: &str) -> String {
    let target = &without_user(target);
    let target = match target.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("mailto") => {
            rest.split('?').next().unwrap_or_default()
        }
        _ => target,
    };
    match percent_decode_str(target).decode_utf8() {
        Ok(text) if !text.contains(char::is_control) => text.into_owned(),
        _ => target.to_owned(),
    }
}

/// Removes the user from the authority of an address (RFC 3986, 3.2).
pub(crate) fn without_user(target: &str) -> Cow<'_, str> {
    let user = target.split_once("://").and_then(|(scheme, rest)| {
        let authority = rest.split(['/', '?', '#']).next()?;
        let (user, _) = authority.rsplit_once('@')?;
        Some((scheme, &rest[user.len() + 1..]))
    });
    match user {
        Some((scheme, rest)) => Cow::Owned(format!("{scheme}://{rest}")),
        None => Cow::Borrowed(target),
    }
}
