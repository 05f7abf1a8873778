//! Lines of the protocol of agents: no panic, and each is a message or refused with an answer.

use ken_mcp::{Message, read};

pub(super) fn run(bytes: &[u8]) {
    match read(bytes) {
        Ok(Message::Request(request)) => assert!(request.id.is_string() || request.id.is_number()),
        Ok(Message::Notification { .. } | Message::Answer) => {}
        Err(wrong) => assert!(wrong.answer()["error"]["code"].is_i64()),
    }
}
