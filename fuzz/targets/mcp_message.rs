//! Lines of the protocol of agents: no panic, and each is a message or refused with an answer.
#![no_main]

use ken_mcp::{Message, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| match read(bytes) {
    Ok(Message::Request(request)) => assert!(request.id.is_string() || request.id.is_number()),
    Ok(Message::Notification { .. } | Message::Answer) => {}
    Err(wrong) => assert!(wrong.answer()["error"]["code"].is_i64()),
});
