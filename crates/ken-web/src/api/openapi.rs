//! `/api/v1/openapi.json`: the description of the API (OpenAPI 3.1), made from the table of routes.

use serde_json::{Map, Value, json};

use super::parameter::{body, one};
use super::routes::{ROUTES, Route};

/// The schemas of answers.
const SCHEMAS: &str = include_str!("schemas.json");

/// Returns the description of the API.
pub(super) fn description() -> Value {
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
