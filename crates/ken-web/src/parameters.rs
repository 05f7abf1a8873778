//! Reads the parameters of an address into a request: each is a key of the request, and has its type.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Asked;
use crate::answer::Error;
use crate::asked::integer;

/// Returns the request that the parameters of an address, or the JSON object in the body of a POST, ask for.
/// `usual` has what is not said. `short` has pairs of a parameter and the key that it stands for; parameters in `others`
/// are not of the request.
///
/// # Errors
/// Fails if there is no such key, or a value has the wrong form.
pub(crate) fn read<T: Serialize + DeserializeOwned>(
    asked: &Asked,
    usual: &T,
    short: &[(&str, &str)],
    others: &[&str],
) -> Result<T, Error> {
    let mut request = serde_json::to_value(usual).map_err(|error| wrong(&error))?;
    let keys = request
        .as_object_mut()
        .ok_or_else(|| Error::wrong("this takes no parameters".to_owned()))?;
    if asked.method == http::Method::POST {
        let body: Map<String, Value> =
            serde_json::from_slice(&asked.body).map_err(|error| wrong(&error))?;
        keys.extend(body);
    }
    let mut lists: Vec<&str> = Vec::new();
    for (name, value) in asked.parameters() {
        if others.contains(&name) {
            continue;
        }
        let key = short.iter().find(|(short, _)| *short == name);
        let key = key.map_or(name, |(_, key)| *key);
        let is_first = !lists.contains(&key);
        lists.push(key);
        let place = place(keys, key)
            .ok_or_else(|| Error::wrong(format!("there is no parameter {name}")))?;
        set(place, value, is_first)
            .map_err(|expected| Error::wrong(format!("{name}: \"{value}\" is not {expected}")))?;
    }
    serde_json::from_value(request).map_err(|error| wrong(&error))
}

fn wrong(error: &serde_json::Error) -> Error {
    Error::wrong(error.to_string())
}

/// Returns the value of a key, such as `limit` or `facets.by`.
fn place<'k>(keys: &'k mut Map<String, Value>, key: &str) -> Option<&'k mut Value> {
    match key.split_once('.') {
        None => keys.get_mut(key),
        Some((outer, inner)) => keys.get_mut(outer)?.as_object_mut()?.get_mut(inner),
    }
}

/// Sets a value of the same type. What has no value takes numbers and texts, and stays without one for an empty text.
fn set(place: &mut Value, value: &str, is_first: bool) -> Result<(), &'static str> {
    match place {
        Value::Bool(_) => {
            *place = match value {
                "true" | "1" | "" => true.into(),
                "false" | "0" => false.into(),
                _ => return Err("true or false"),
            }
        }
        Value::Number(_) => {
            *place = integer(value).ok_or("a number")?.into();
        }
        Value::Array(values) => {
            if is_first {
                values.clear();
            }
            values.push(value.into());
        }
        // As a form sends a field that is not filled in.
        Value::Null if value.is_empty() => {}
        Value::Null => {
            *place = value
                .parse::<i64>()
                .map_or_else(|_| value.into(), Value::from)
        }
        Value::String(_) => *place = value.into(),
        Value::Object(_) => return Err("something that an address can hold"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::Request as HttpRequest;
    use ken_search::service::{Group, Request};

    use super::*;
    use crate::From;

    fn asked(query: &str) -> Asked {
        let request = HttpRequest::builder().uri(format!("/x?{query}"));
        let request = request.body(Vec::new()).unwrap();
        Asked::new(request, "/x".to_owned(), From::User, Arc::default())
    }

    fn of(query: &str) -> Result<Request, String> {
        let short = [
            ("q", "query"),
            ("filter", "filters"),
            ("facet", "facets.by"),
        ];
        let read = read(&asked(query), &Request::default(), &short, &["commit"]);
        read.map_err(|error| error.message)
    }

    #[test]
    fn parameters_are_keys_of_the_request() {
        let read = of(
            "q=a+b&filter=type:image&filter=ext:png&limit=5&count=1&facet=type&facets.depth=2&group=similar&commit=7",
        );
        let mut expected = Request {
            query: "a b".to_owned(),
            filters: vec!["type:image".to_owned(), "ext:png".to_owned()],
            limit: Some(5),
            count: true,
            group: Some(Group::Similar),
            ..Request::default()
        };
        expected.facets.by = vec!["type".to_owned()];
        expected.facets.depth = 2;
        assert_eq!(read.unwrap(), expected);
    }

    #[test]
    fn mistakes_are_named() {
        for (query, message) in [
            ("offset=-1", "offset: \"-1\" is not a number"),
            ("offset=x", "offset: \"x\" is not a number"),
            ("count=maybe", "count: \"maybe\" is not true or false"),
            ("nothing=1", "there is no parameter nothing"),
            ("facets=1", "facets: \"1\" is not something"),
            ("group=files", "unknown variant `files`"),
        ] {
            let read = of(query).unwrap_err();
            assert!(read.starts_with(message), "{query}: {read}");
        }
    }
}
