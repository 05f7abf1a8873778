//! Messages of JSON-RPC 2.0. Whatever the bytes are, they are a message or a reason to refuse it.

use serde_json::{Map, Value, json};

/// The code of JSON-RPC for what is not JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// The code for JSON that is no message.
pub(crate) const INVALID_REQUEST: i64 = -32600;

/// A message of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// One that wants an answer.
    Request(Request),
    /// One that wants none.
    Notification {
        /// What happened.
        method: String,
        /// The details.
        params: Map<String, Value>,
    },
    /// An answer. The server asks nothing, so nobody waits for it.
    Answer,
}

/// A message that wants an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The identifier, which the answer repeats: a text or a whole number.
    pub id: Value,
    /// What is asked.
    pub method: String,
    /// The details.
    pub params: Map<String, Value>,
}

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The identifier, as far as there is one.
    pub id: Value,
    /// The code of JSON-RPC.
    pub code: i64,
    /// What is wrong, for people.
    pub message: &'static str,
}

impl Wrong {
    fn invalid(id: Value, message: &'static str) -> Self {
        Self {
            id,
            code: INVALID_REQUEST,
            message,
        }
    }

    /// Returns the answer that says so.
    pub fn answer(&self) -> Value {
        error(&self.id, self.code, self.message, None)
    }
}

/// Returns an answer that is an error.
pub(crate) fn error(id: &Value, code: i64, message: &str, data: Option<Value>) -> Value {
    let mut error = json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// Reads a message.
///
/// # Errors
/// Fails if the bytes are not JSON, or no message.
pub fn read(bytes: &[u8]) -> Result<Message, Wrong> {
    let value = serde_json::from_slice(bytes).map_err(|_| Wrong {
        id: Value::Null,
        code: PARSE_ERROR,
        message: "the message is not JSON",
    })?;
    let mut fields = match value {
        Value::Object(fields) => fields,
        Value::Array(_) => {
            let message = "several messages at once are not supported";
            return Err(Wrong::invalid(Value::Null, message));
        }
        _ => return Err(Wrong::invalid(Value::Null, "the message is not an object")),
    };
    let id = fields.remove("id");
    let known = match &id {
        Some(id @ Value::String(_)) => id.clone(),
        Some(id @ Value::Number(number)) if !number.is_f64() => id.clone(),
        _ => Value::Null,
    };
    if fields.get("jsonrpc") != Some(&Value::from("2.0")) {
        return Err(Wrong::invalid(known, "jsonrpc must be \"2.0\""));
    }
    let method = match fields.remove("method") {
        Some(Value::String(method)) => method,
        None if fields.contains_key("result") || fields.contains_key("error") => {
            return Ok(Message::Answer);
        }
        _ => return Err(Wrong::invalid(known, "the method must be a text")),
    };
    let params = match fields.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(Wrong::invalid(known, "params must be an object")),
    };
    match id {
        None => Ok(Message::Notification { method, params }),
        Some(_) if known.is_null() => {
            let message = "the id must be a text or a whole number";
            Err(Wrong::invalid(known, message))
        }
        Some(_) => Ok(Message::Request(Request {
            id: known,
            method,
            params,
        })),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_are_read_or_refused() {
        let code = |text: &str| match read(text.as_bytes()) {
            Err(wrong) => wrong.code,
            Ok(_) => 0,
        };
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for (text, expected) in [
            ("", PARSE_ERROR),
            ("{", PARSE_ERROR),
            ("\u{feff}{}", PARSE_ERROR),
            (&*deep, PARSE_ERROR),
            ("1", INVALID_REQUEST),
            ("[]", INVALID_REQUEST),
            ("{}", INVALID_REQUEST),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":1}"#, INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
                INVALID_REQUEST,
            ),
            (r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, 0),
            (r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, 0),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 0),
        ] {
            assert_eq!(code(text), expected, "{text:.80}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
