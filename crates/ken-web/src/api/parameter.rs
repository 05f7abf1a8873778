//! The parameters of an address, as the description of the API names them.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::asked::MAX_INTEGER;

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

    /// Returns its description.
    pub(super) fn form(&self, place: &str) -> Value {
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
        "integer" => integer(),
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

/// Returns the schema of numbers: those that all languages have.
fn integer() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": MAX_INTEGER })
}

/// Returns the schema of an object that has the keys of a request.
pub(super) fn body(usual: &Value) -> Value {
    match usual.as_object() {
        Some(keys) => {
            let properties: Map<String, Value> = keys
                .iter()
                .map(|(key, value)| (key.clone(), body(value)))
                .collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        }
        None if usual.is_null() => json!({}),
        None => schema(usual),
    }
}

fn schema(value: &Value) -> Value {
    match value {
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(_) => integer(),
        Value::Array(_) => json!({ "type": "array", "items": { "type": "string" } }),
        _ => json!({ "type": "string" }),
    }
}
