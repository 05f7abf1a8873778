//! Names of languages, in one form for what documents declare and people write.
//!
//! `en_GB.UTF-8`, `eng-GB` and `English` each mean a tag of BCP 47 (RFC 5646): a language in two letters (ISO 639-1)
//! if it has such a code, and possibly a script and a region.

/// Returns the tag of a language as a document declares it or a person writes it: `de` for `German` and `ger`, `en-GB`
/// for `en_gb`. Returns `None` if the text says that there is no language, or not which.
pub fn normalize(declared: &str) -> Option<String> {
    let declared = declared.trim();
    // `en_US.UTF-8@euro`, `English (United States)`
    let end = declared.find(['.', '@', '(', ';', ',']);
    let tag = declared[..end.unwrap_or(declared.len())].trim();
    let mut parts = tag.split(['-', '_']);
    let mut normal = primary(&parts.next()?.to_lowercase())?;
    for part in parts.filter(|part| !part.is_empty()) {
        normal.push('-');
        match part.len() {
            2 => normal.push_str(&part.to_uppercase()),
            4 if part.bytes().all(|b| b.is_ascii_alphabetic()) => {
                normal.push_str(&part[..1].to_uppercase());
                normal.push_str(&part[1..].to_lowercase());
            }
            _ => normal.push_str(&part.to_lowercase()),
        }
    }
    Some(normal)
}

/// Calls `each` with every form that finds a tag, in small letters: `zh-hant-tw`, `zh-hant`, `zh`.
pub fn each_prefix(tag: &str, mut each: impl FnMut(&str)) {
    let tag = tag.trim().to_lowercase();
    each(&tag);
    let mut rest = tag.as_str();
    while let Some((start, _)) = rest.rsplit_once('-') {
        rest = start;
        each(rest);
    }
}

/// Returns the English name of the language of a tag: `Slovak` for `sk`, `English (GB)` for `en-GB`. Returns the tag itself
/// if the language has no code in ISO 639-1.
pub fn english_name(tag: &str) -> String {
    let (code, rest) = tag.split_once('-').unwrap_or((tag, ""));
    let known = LANGUAGES.iter().find(|(own, _, _)| *own == code);
    let Some((_, _, names)) = known else {
        return tag.to_owned();
    };
    let mut characters = names.split(' ').next().unwrap_or_default().chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    let name: String = first.chain(characters).collect();
    match rest {
        "" => name,
        rest => format!("{name} ({rest})"),
    }
}

/// Returns the shortest code of a language.
fn primary(name: &str) -> Option<String> {
    // Codes of ISO 639-2 for undetermined, multiple and no language, and what Word writes.
    if matches!(
        name,
        "" | "und" | "mul" | "zxx" | "mis" | "x" | "xxx" | "c" | "posix" | "unknown" | "none"
    ) {
        return None;
    }
    let known = LANGUAGES.iter().find(|(code, long, names)| {
        *code == name
            || long
                .split(' ')
                .chain(names.split(' '))
                .any(|other| other == name)
    });
    Some(known.map_or(name, |(code, _, _)| code).to_owned())
}

/// The languages with a code in ISO 639-1: that code, the codes of ISO 639-2, and names.
#[rustfmt::skip]
const LANGUAGES: [(&str, &str, &str); 75] = [
    ("af", "afr", "afrikaans"), ("am", "amh", "amharic"), ("ar", "ara", "arabic"),
    ("az", "aze", "azerbaijani"), ("be", "bel", "belarusian"), ("bg", "bul", "bulgarian"),
    ("bn", "ben", "bengali bangla"), ("bo", "bod tib", "tibetan"), ("bs", "bos", "bosnian"),
    ("ca", "cat", "catalan català"), ("cs", "ces cze", "czech čeština"), ("cy", "cym wel", "welsh"),
    ("da", "dan", "danish dansk"), ("de", "deu ger", "german deutsch"), ("el", "ell gre", "greek"),
    ("en", "eng", "english"), ("eo", "epo", "esperanto"), ("es", "spa", "spanish español castellano"),
    ("et", "est", "estonian eesti"), ("eu", "eus baq", "basque euskara"), ("fa", "fas per", "persian farsi"),
    ("fi", "fin", "finnish suomi"), ("fr", "fra fre", "french français"), ("ga", "gle", "irish gaeilge"),
    ("gl", "glg", "galician galego"), ("gu", "guj", "gujarati"), ("he", "heb iw", "hebrew"),
    ("hi", "hin", "hindi"), ("hr", "hrv scr", "croatian hrvatski"), ("hu", "hun", "hungarian magyar"),
    ("hy", "hye arm", "armenian"), ("id", "ind in", "indonesian"), ("is", "isl ice", "icelandic"),
    ("it", "ita", "italian italiano"), ("ja", "jpn jp", "japanese"), ("ka", "kat geo", "georgian"),
    ("kk", "kaz", "kazakh"), ("km", "khm", "khmer"), ("kn", "kan", "kannada"), ("ko", "kor", "korean"),
    ("la", "lat", "latin"), ("lo", "lao", "lao"), ("lt", "lit", "lithuanian"), ("lv", "lav", "latvian"),
    ("mk", "mkd mac", "macedonian"), ("ml", "mal", "malayalam"), ("mn", "mon", "mongolian"),
    ("mr", "mar", "marathi"), ("ms", "msa may", "malay"), ("my", "mya bur", "burmese"),
    ("nb", "nob", "bokmål"), ("ne", "nep", "nepali"), ("nl", "nld dut", "dutch nederlands"),
    ("nn", "nno", "nynorsk"), ("no", "nor", "norwegian norsk"), ("or", "ori", "odia"),
    ("pa", "pan", "punjabi"), ("pl", "pol", "polish polski"), ("pt", "por", "portuguese português"),
    ("ro", "ron rum", "romanian română"), ("ru", "rus", "russian"), ("si", "sin", "sinhala"),
    ("sk", "slk slo", "slovak"), ("sl", "slv", "slovene slovenian"), ("sq", "sqi alb", "albanian"),
    ("sr", "srp scc", "serbian"), ("sv", "swe", "swedish svenska"), ("sw", "swa", "swahili"),
    ("ta", "tam", "tamil"), ("te", "tel", "telugu"), ("th", "tha", "thai"), ("tr", "tur", "turkish türkçe"),
    ("uk", "ukr", "ukrainian"), ("vi", "vie", "vietnamese"), ("zh", "zho chi cmn", "chinese"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_have_one_form() {
        for (declared, expected) in [
            ("en", Some("en")),
            ("EN_gb", Some("en-GB")),
            ("en_US.UTF-8", Some("en-US")),
            ("English (United States)", Some("en")),
            ("ger", Some("de")),
            ("zh-hant-tw", Some("zh-Hant-TW")),
            ("de-1996", Some("de-1996")),
            ("Français", Some("fr")),
            ("gsw", Some("gsw")),
            ("und", None),
            ("x-none", None),
            ("C", None),
            (" ", None),
        ] {
            assert_eq!(normalize(declared).as_deref(), expected, "{declared}");
        }
    }

    #[test]
    fn tags_have_names() {
        let names = ["sk", "ca", "en-GB", "nb", "gsw", ""].map(english_name);
        let expected = ["Slovak", "Catalan", "English (GB)", "Bokmål", "gsw", ""];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_tag_is_found_by_its_language() {
        let mut found = Vec::new();
        each_prefix("zh-Hant-TW", |term| found.push(term.to_owned()));
        assert_eq!(found, ["zh-hant-tw", "zh-hant", "zh"]);
    }
}
