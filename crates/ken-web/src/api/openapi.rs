//! `/api/v1/openapi.json`: the description of the API (OpenAPI 3.1), made from the table of routes.

use serde_json::{Map, Value, json};

use super::parameter::{body, one};
use super::routes::{JSON, LINES, ROUTES, Route};

/// The schemas of answers.
const SCHEMAS: &str = include_str!("schemas.json");

/// A request that the process answers that keeps the index fresh ([`ken_api::Question`]).
struct Served {
    path: &'static str,
    method: &'static str,
    summary: &'static str,
    /// The schema of the body; none if there is no body.
    takes: Option<&'static str>,
    gives: (&'static str, &'static str),
}

const SERVED: [Served; 5] = [
    Served {
        path: "status",
        method: "GET",
        summary: "How fresh the index is",
        takes: None,
        gives: (JSON, "Freshness"),
    },
    Served {
        path: "fresh",
        method: "POST",
        summary: "Wait until all changes made before the request are in the index",
        takes: Some("FreshWish"),
        gives: (JSON, "Fresh"),
    },
    Served {
        path: "vouch",
        method: "POST",
        summary: "Whether the index has all files below some paths as they are",
        takes: Some("VouchWish"),
        gives: (JSON, "Vouched"),
    },
    Served {
        path: "index",
        method: "POST",
        summary: "Compare everything, as ken index does; events, one a line",
        takes: Some("IndexWish"),
        gives: (LINES, "IndexEvent"),
    },
    Served {
        path: "web",
        method: "POST",
        summary: "The address of the page, with the token that lets its reader in",
        takes: None,
        gives: (JSON, "WebAddress"),
    },
];

/// Returns the description of the API.
pub(super) fn description() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = format!("/api/v1/{}", route.path.replace("{}", "{id}"));
        let methods = route.methods.iter();
        let operations = methods.map(|method| (method.to_lowercase(), operation(route, method)));
        paths.insert(path, Value::Object(operations.collect()));
    }
    for served in SERVED {
        let path = format!("/api/v1/{}", served.path);
        let method = served.method.to_lowercase();
        paths.insert(path, json!({ method: served.operation() }));
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

impl Served {
    fn operation(&self) -> Value {
        let method = self.method.to_lowercase();
        let mut operation = json!({
            "operationId": format!("{method}_{}", self.path),
            "summary": self.summary,
            "parameters": [],
            "responses": responses(self.gives),
        });
        if let Some(schema) = self.takes {
            operation["requestBody"] = json!({
                "required": true,
                "content": content((JSON, schema)),
            });
        }
        operation
    }
}

fn responses(gives: (&str, &str)) -> Value {
    json!({
        "200": { "description": "The answer", "content": content(gives) },
        "4XX": { "description": "The request is wrong", "content": content((JSON, "Error")) },
        "5XX": { "description": "It cannot be answered", "content": content((JSON, "Error")) },
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
        "responses": responses(route.gives),
    });
    if is_post && let Some(usual) = route.body {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": body(&usual()) } },
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
    fn every_question_to_the_server_is_described() {
        for served in SERVED {
            let path = format!("/api/v1/{}", served.path);
            let method = served.method.parse().unwrap();
            let read = ken_api::Question::read(&method, &path, br#"{"paths":[]}"#);
            // A body may be refused, but not the path and not the method.
            let refused = read.unwrap().err().map(|(status, _)| status);
            assert_ne!(refused, Some(405), "{path}");
        }
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
        let text = serde_json::to_string_pretty(&description()).unwrap() + "\n";
        expect_test::expect_file!["../../../../docs/openapi.json"].assert_eq(&text);
    }
}
