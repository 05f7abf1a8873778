//! The files that pages load. The address of each has a hash of its content, so browsers keep it for ever.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use http::header::CACHE_CONTROL;
use serde::Serialize;

use crate::answer::{Answer, set, whole};

/// A file.
struct Asset {
    stem: &'static str,
    extension: &'static str,
    media_type: &'static str,
    content: &'static str,
}

const STYLE: Asset = Asset {
    stem: "style",
    extension: "css",
    media_type: "text/css; charset=utf-8",
    content: include_str!("assets/style.css"),
};
const SCRIPT: Asset = Asset {
    stem: "app",
    extension: "js",
    media_type: "text/javascript; charset=utf-8",
    content: include_str!("assets/app.js"),
};
const ICON: Asset = Asset {
    stem: "icon",
    extension: "svg",
    media_type: "image/svg+xml",
    content: include_str!("assets/icon.svg"),
};

impl Asset {
    fn name(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.content.hash(&mut hasher);
        let hash = hasher.finish() as u32;
        format!("{}-{hash:08x}.{}", self.stem, self.extension)
    }
}

/// The names of the files.
#[derive(Serialize)]
pub(super) struct Names {
    style: String,
    script: String,
    icon: String,
}

/// The names of the files, for the templates.
pub(super) static NAMES: LazyLock<Names> = LazyLock::new(|| Names {
    style: STYLE.name(),
    script: SCRIPT.name(),
    icon: ICON.name(),
});

/// Returns the file with a name.
pub(super) fn answer(name: &str) -> Option<Answer> {
    let names = &*NAMES;
    let all = [
        (&names.style, STYLE),
        (&names.script, SCRIPT),
        (&names.icon, ICON),
    ];
    let (_, asset) = all.into_iter().find(|(own, _)| *own == name)?;
    let mut answer = whole(200, asset.media_type, asset.content.into());
    set(
        &mut answer,
        CACHE_CONTROL,
        "private, max-age=31536000, immutable",
    );
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_load_is_small() {
        assert!(SCRIPT.content.len() < 60_000);
        assert!(SCRIPT.content.len() + STYLE.content.len() + ICON.content.len() < 100_000);
    }
}
