//! Where a film was taken: coordinates as text (ISO 6709, annex H): `+48.8583+002.2945+035/`.

use crate::output::metadata::Metadata;

/// Adds the place that a text of coordinates names, if it is one.
pub(super) fn add_iso6709(metadata: &mut Metadata, text: &str) {
    if let Some((latitude, longitude)) = iso6709(text) {
        metadata.place(latitude, longitude);
    }
}

/// Returns latitude and longitude in degrees; a height and the name of a system of coordinates may follow them.
fn iso6709(text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    let signs: Vec<usize> = text
        .match_indices(['+', '-'])
        .map(|(at, _)| at)
        .take(3)
        .collect();
    let [0, second, ..] = signs[..] else {
        return None;
    };
    let rest = &text[second..];
    let end = rest[1..].find(|c: char| !c.is_ascii_digit() && c != '.');
    let longitude = &rest[..end.map_or(rest.len(), |end| end + 1)];
    Some((degrees(&text[..second], 2)?, degrees(longitude, 3)?))
}

/// Returns the degrees of an angle, whose digits before the point are degrees (two, of a longitude three), minutes and seconds.
fn degrees(angle: &str, n_digits: usize) -> Option<f64> {
    let (sign, digits) = angle.split_at_checked(1)?;
    let whole = digits.find('.').unwrap_or(digits.len());
    let is_number = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let at = match whole.checked_sub(n_digits)? {
        0 => return signed(sign, digits.parse().ok()?),
        2 | 4 if is_number => n_digits,
        _ => return None,
    };
    let degrees: f64 = digits[..at].parse().ok()?;
    let (minutes, seconds): (f64, f64) = match whole - at {
        2 => (digits[at..].parse().ok()?, 0.0),
        _ => (
            digits[at..at + 2].parse().ok()?,
            digits[at + 2..].parse().ok()?,
        ),
    };
    signed(sign, degrees + minutes / 60.0 + seconds / 3600.0)
}

fn signed(sign: &str, degrees: f64) -> Option<f64> {
    Some(if sign == "-" { -degrees } else { degrees })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_one_of_three_forms() {
        let rounded = |text| {
            iso6709(text).map(|(latitude, longitude)| {
                (
                    (latitude * 1e4).round() / 1e4,
                    (longitude * 1e4).round() / 1e4,
                )
            })
        };
        assert_eq!(rounded("+48.8583+002.2945+035.2/"), Some((48.8583, 2.2945)));
        assert_eq!(rounded("-33.8568+151.2153/"), Some((-33.8568, 151.2153)));
        assert_eq!(rounded("+4851.5-00217.67/"), Some((48.8583, -2.2945)));
        assert_eq!(
            rounded("+485130+0021740CRSWGS_84/"),
            Some((48.8583, 2.2944))
        );
        for text in [
            "",
            "+48.8583",
            "48+2",
            "+4+2",
            "+é+é",
            "+48.1.1+002.1",
            "--",
        ] {
            assert_eq!(rounded(text), None, "{text}");
        }
    }
}
