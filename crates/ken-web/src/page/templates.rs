//! The templates of pages. Their engine escapes every text that they print.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, Value};
use serde::Serialize;

use super::assets;

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("templates/", $name)))),*]
    };
}

const TEMPLATES: [(&str, &str); 16] = templates![
    "document.html",
    "error.html",
    "facets.html",
    "found.html",
    "home.html",
    "layout.html",
    "login.html",
    "macros.html",
    "osd.xml",
    "preview.html",
    "problem.html",
    "results.html",
    "saved.html",
    "search.html",
    "sheet.html",
    "status.html",
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    environment.set_syntax(syntax.unwrap_or_default());
    for (name, source) in TEMPLATES {
        // Tests render each; a broken one is missing, which rendering tells.
        let _ = environment.add_template(name, source);
    }
    environment.add_filter("n", grouped);
    environment.add_filter("bytes", bytes);
    environment.add_global("assets", Value::from(Serde(&*assets::NAMES)));
    environment
});

/// Returns a view as a template shows it.
pub(super) fn render(template: &str, view: &impl Serialize) -> Result<String, Error> {
    let text = ENVIRONMENT.get_template(template)?.render(Serde(view))?;
    // The engine escapes slashes, which HTML does not ask for. Results are full of paths: this is a quarter of their bytes.
    Ok(text.replace("&#x2f;", "/"))
}

/// Returns a number with its digits in groups: `322,128`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number of bytes as people write it: `1.2 MB`.
pub(super) fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut value = number as f64;
    let mut unit = "bytes";
    for next in UNITS {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    match value < 10.0 && unit != "bytes" {
        true => format!("{value:.1} {unit}"),
        false => format!("{value:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_sound() {
        for (name, source) in TEMPLATES {
            let added = Environment::new().add_template(name, source).map(|()| name);
            assert_eq!(added.map_err(|error| format!("{error:#}")), Ok(name));
        }
    }

    #[test]
    fn every_text_is_escaped() {
        let view =
            serde_json::json!({ "state": {}, "problem": {}, "title": "</title>&#x2f;<b>\"'" });
        let page = render("error.html", &view).unwrap();
        assert!(
            page.contains("<title>&lt;/title&gt;&amp;#x2f;&lt;b&gt;&quot;&#x27; – ken</title>"),
            "{page}"
        );
    }

    #[test]
    fn numbers_are_written_for_people() {
        let numbers = [0, 999, 1000, 322_128, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "322,128", "1,234,567"]);
        let sizes = [0, 999, 1000, 12_345, 999_999, 5_300_000_000].map(bytes);
        assert_eq!(
            sizes,
            [
                "0 bytes",
                "999 bytes",
                "1.0 kB",
                "12 kB",
                "1000 kB",
                "5.3 GB"
            ]
        );
    }
}
