//! What the locale of the user says.

/// Returns whether the user writes the month before the day: `5/6/2024` is in May.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(crate) fn writes_month_first() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_TIME", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| is_month_first(&locale))
}

/// Returns whether a locale, such as `en_US.UTF-8`, is of a country that writes the month first (CLDR): the United
/// States with their territories, Micronesia, Palau and the Philippines.
fn is_month_first(locale: &str) -> bool {
    let end = locale.find(['.', '@']).unwrap_or(locale.len());
    let country = locale[..end].split(['_', '-']).nth(1).unwrap_or_default();
    matches!(
        country,
        "US" | "AS" | "GU" | "MP" | "PR" | "UM" | "VI" | "FM" | "MH" | "PW" | "PH"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_country_tells_the_order() {
        for locale in ["en_US.UTF-8", "en_US", "es_US.utf8", "fil_PH"] {
            assert!(is_month_first(locale), "{locale}");
        }
        for locale in [
            "C",
            "C.UTF-8",
            "POSIX",
            "en_GB.UTF-8",
            "de_DE@euro",
            "fr",
            "",
        ] {
            assert!(!is_month_first(locale), "{locale}");
        }
    }
}
