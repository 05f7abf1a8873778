//! Bytes to text: encodings.
