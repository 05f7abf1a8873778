//! The five tools.

mod grep;
mod list;
mod read;
mod search;
mod status;
mod words;

use serde_json::Value;

use crate::call::Call;

/// What a tool does: its text, or why there is none, for the model.
pub(crate) type Tool = fn(&Call<'_>) -> Result<String, String>;

const TOOLS: [(&str, Tool); 5] = [
    ("search", search::run),
    ("grep", grep::run),
    ("read", read::run),
    ("list", list::run),
    ("status", status::run),
];

/// Returns the tool of a name.
pub(crate) fn find(name: &str) -> Option<Tool> {
    let found = TOOLS.iter().find(|(known, _)| *known == name);
    found.map(|(_, tool)| *tool)
}

/// Returns the definitions of all tools, always in the same order.
pub(crate) fn definitions() -> Value {
    // Part of the program; a test reads it.
    serde_json::from_str(include_str!("definitions.json")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Models pay for the definitions in each conversation.
    const MAX_TOKENS: usize = 1_500;

    #[test]
    fn definitions_are_short_and_complete() {
        let definitions = definitions();
        let names = definitions.as_array().unwrap().iter();
        let names: Vec<_> = names.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, TOOLS.map(|(name, _)| name));
        let n_bytes = definitions.to_string().len();
        assert!(n_bytes / 4 < MAX_TOKENS, "{n_bytes} bytes");
        for tool in definitions.as_array().unwrap() {
            assert_eq!(tool["annotations"]["readOnlyHint"], true);
            assert_eq!(tool["inputSchema"]["additionalProperties"], false);
            for (name, argument) in tool["inputSchema"]["properties"].as_object().unwrap() {
                assert!(argument["type"].is_string(), "{name}");
            }
        }
    }
}
