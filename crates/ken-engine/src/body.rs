//! The body of a stored document.

/// The body of a stored document. It may stay in the buffer that the engine read it into.
pub struct Body(Text);

enum Text {
    Owned(String),
    /// Bytes that were valid text when they were written.
    Shared(Box<dyn AsRef<[u8]> + Send + Sync>),
}

impl Default for Body {
    fn default() -> Self {
        Self::owned(String::new())
    }
}

impl Body {
    /// Returns the body with a text of its own.
    pub fn owned(text: String) -> Self {
        Self(Text::Owned(text))
    }

    /// Returns the body with a text that stays in a buffer. Bytes that are not UTF-8 make an empty text.
    pub fn shared(bytes: Box<dyn AsRef<[u8]> + Send + Sync>) -> Self {
        Self(Text::Shared(bytes))
    }

    /// Returns the text. A shared text is validated at each call.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Owned(text) => text,
            Text::Shared(bytes) => str::from_utf8((**bytes).as_ref()).unwrap_or_default(),
        }
    }

    /// Returns the text as a string of its own. A shared text is copied.
    pub fn into_string(self) -> String {
        match self.0 {
            Text::Owned(text) => text,
            Text::Shared(_) => self.as_str().to_owned(),
        }
    }
}
