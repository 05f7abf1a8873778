//! `/api/v1/openapi.json`: the description of the API (OpenAPI 3.1), made from the table of routes.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::routes::{ROUTES, Route};
use crate::answer::{Answer, Error, object};
use crate::{Asked, Web};

/// The schemas of answers.
const SCHEMAS: &str = include_str!("schemas.json");

/// A parameter of an address.
pub(super) struct Parameter {
    name: String,
    schema: Value,
    description: String,
    is_required: bool,
}

impl Parameter {
    /// Says that it must be there.
    pub(super) fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }

    /// Says that it may come more than once.
    pub(super) fn many(self) -> Self {
        Self {
            schema: json!({ "type": "array", "items": self.schema }),
            ..self
        }
    }

    fn form(&self, place: &str) -> Value {
        let mut form = json!({
            "name": self.name,
            "in": place,
            "required": self.is_required,
            "schema": self.schema,
        });
        if !self.description.is_empty() {
            form["description"] = self.description.as_str().into();
        }
        form
    }
}

/// Returns a parameter.
pub(super) fn one(name: &str, schema: &str, description: &str) -> Parameter {
    let schema = match schema {
        "integer" => json!({ "type": "integer", "minimum": 0 }),
        schema => json!({ "type": schema }),
    };
    Parameter {
        name: name.to_owned(),
        schema,
        description: description.to_owned(),
        is_required: false,
    }
}

/// Returns the parameters that are keys of a request, with short names for some.
pub(super) fn keys(usual: &impl Serialize, short: &[(&str, &str)]) -> Vec<Parameter> {
    let usual = serde_json::to_value(usual).unwrap_or_default();
    let mut all = Vec::new();
    add_keys("", &usual, short, &mut all);
    all
}

fn add_keys(outer: &str, value: &Value, short: &[(&str, &str)], all: &mut Vec<Parameter>) {
    let Some(keys) = value.as_object() else {
        return;
    };
    for (key, value) in keys {
        let key = match outer {
            "" => key.clone(),
            outer => format!("{outer}.{key}"),
        };
        if value.is_object() {
            add_keys(&key, value, short, all);
            continue;
        }
        let name = short.iter().find(|(_, long)| *long == key);
        let name = name.map_or(key.as_str(), |(name, _)| name);
        let mut schema = schema(value);
        if !value.is_null() {
            schema["default"] = value.clone();
        }
        all.push(Parameter {
            name: name.to_owned(),
            schema,
            description: match name == key {
                true => String::new(),
                false => format!("The key {key} of the request"),
            },
            is_required: false,
        });
    }
}

fn schema(value: &Value) -> Value {
    match value {
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(_) => json!({ "type": "integer", "minimum": 0 }),
        Value::Array(_) => json!({ "type": "array", "items": { "type": "string" } }),
        _ => json!({ "type": "string" }),
    }
}

/// Returns the description of the API.
fn description() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = format!("/api/v1/{}", route.path.replace("{}", "{id}"));
        let methods = route.methods.iter();
        let operations = methods.map(|method| (method.to_lowercase(), operation(route, method)));
        paths.insert(path, Value::Object(operations.collect()));
    }
    // Part of the program; a test reads it.
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap_or_default();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "ken",
            "summary": "Search documents, mail and source code",
            "version": "1",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
            },
        },
        "security": [{ "token": [] }],
    })
}

fn operation(route: &Route, method: &str) -> Value {
    let is_post = method == "POST";
    let mut parameters = Vec::new();
    if route.path.contains("{}") {
        let id = one("id", "string", "The identifier of a document").required();
        parameters.push(id.form("path"));
    }
    if !is_post {
        parameters.extend((route.parameters)().iter().map(|one| one.form("query")));
    }
    let mut operation = json!({
        "operationId": format!("{}_{}", method.to_lowercase(), identifier(route.path)),
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            "200": { "description": "The answer", "content": content(route.gives) },
            "4XX": { "description": "The request is wrong", "content": content(("application/json", "Error")) },
            "5XX": { "description": "It cannot be answered", "content": content(("application/json", "Error")) },
        },
    });
    if is_post && !(route.parameters)().is_empty() {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": { "type": "object" } } },
        });
    }
    operation
}

fn identifier(path: &str) -> String {
    let plain = path.replace("/{}", "").replace(".json", "");
    plain.replace('/', "_")
}

fn content((mime, schema): (&str, &str)) -> Value {
    let schema = match schema {
        "" => json!({}),
        name => json!({ "$ref": format!("#/components/schemas/{name}") }),
    };
    json!({ mime: { "schema": schema } })
}

pub(super) fn answer(_: &Web, _: &Asked, _: &str) -> Result<Answer, Error> {
    Ok(object(&description()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_schema_is_there_and_used() {
        let schemas: Map<String, Value> = serde_json::from_str(SCHEMAS).unwrap();
        let text = description().to_string();
        let mut used: BTreeSet<&str> = BTreeSet::new();
        for piece in text.split("#/components/schemas/").skip(1) {
            used.insert(piece.split('"').next().unwrap());
        }
        let known: BTreeSet<&str> = schemas.keys().map(String::as_str).collect();
        assert_eq!(used, known);
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let description = description();
        let paths = description["paths"].as_object().unwrap().values();
        let operations = paths.flat_map(|path| path.as_object().unwrap().values());
        let names: Vec<&str> = operations
            .map(|one| one["operationId"].as_str().unwrap())
            .collect();
        let distinct: BTreeSet<&&str> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }

    #[test]
    fn the_description_in_the_documents_is_this_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
        let text = serde_json::to_string_pretty(&description()).unwrap() + "\n";
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs_err::write(path, &text).unwrap();
        }
        assert_eq!(
            fs_err::read_to_string(path).unwrap(),
            text,
            "UPDATE_EXPECT=1 renews it"
        );
    }
}
