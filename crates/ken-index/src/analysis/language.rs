//! Detects the language of a text, for documents that do not declare it.
//!
//! Most scripts belong to one language. For scripts of many languages, function words decide: the
//! short ones among the first words of a text are looked up, and each votes for the languages in
//! which it is frequent; a letter votes against the languages that do not use it. Prose is decided
//! within some forty words, which takes about two microseconds. Text without function words, such
//! as tables and code, has no language (J. D. Prager, "Linguini: language identification for
//! multilingual documents", 1999).

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::FixedState;

use super::language_words::WORDS;

/// Number of bytes of a text that are examined.
const MAX_BYTES: usize = 2 << 10;
/// Maximum length of a function word.
const MAX_WORD_BYTES: usize = 16;
/// Minimum votes for a language, and the votes with which twice as many as any other are enough.
const MIN_VOTES: i32 = 8;
const CLEAR_VOTES: i32 = 40;
/// Value of a word's vote, divided by the number of languages that it votes for.
const VOTE: i32 = 4;
/// Value of a vote against languages that lack one of the word's letters: that of one of their own
/// words.
const AGAINST: i32 = 2 + VOTE;
/// The share of the words of a text in a language that must vote for it is one in this many.
const MIN_SHARE: i32 = 10;

/// Returns the frequent function words of a language, by its code (ISO 639-1).
pub(crate) fn frequent_words(code: &str) -> Option<&'static str> {
    let found = WORDS.iter().find(|(language, _)| *language == code);
    found.map(|(_, words)| *words)
}

/// Returns the code of the language of a text (ISO 639-1), if it is recognisable.
pub(crate) fn detect(text: &str) -> Option<&'static str> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let bytes = text.as_bytes();
    let mut votes = Votes::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let letters = bytes[at..].iter().take_while(|b| b.is_ascii_alphabetic());
        at += letters.count();
        let is_clear = if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
            let rest = &text[start..];
            let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
            at = start + end.max(1);
            votes.unicode_word(&rest[..end])
        } else {
            votes.ascii_word(&bytes[start..at])
        };
        if is_clear {
            break;
        }
        at = text.ceil_char_boundary(at.max(start + 1));
    }
    votes.winner()
}

fn is_letter(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphabetic()
    } else {
        character.is_alphabetic() || super::script::is_word(character)
    }
}

/// The languages in which a word is frequent, by the word's bytes as one number.
type Table = HashMap<u128, u64, FixedState>;

/// Returns the bytes of a word of at most [`MAX_WORD_BYTES`] as one number, with ASCII capitals in
/// lower case.
fn packed(word: &[u8]) -> u128 {
    let mut bytes = [0; MAX_WORD_BYTES];
    bytes[..word.len()].copy_from_slice(word);
    bytes.make_ascii_lowercase();
    u128::from_le_bytes(bytes)
}

/// The evidence for each language.
struct Votes {
    words: i32,
    /// In the order of [`WORDS`].
    by_words: [i32; MAX_LANGUAGES],
    /// Letters of scripts that belong to one language, in the order of [`SCRIPTS`].
    letters: [u32; SCRIPTS.len()],
}

/// Number of bits in the set of a word's languages.
const MAX_LANGUAGES: usize = 64;

impl Votes {
    fn new() -> Self {
        Self {
            words: 0,
            by_words: [0; MAX_LANGUAGES],
            letters: [0; SCRIPTS.len()],
        }
    }

    /// Counts a word of ASCII letters, if it is one; returns whether the language is clear.
    fn ascii_word(&mut self, word: &[u8]) -> bool {
        self.words += i32::from(!word.is_empty());
        (1..=MAX_WORD_BYTES).contains(&word.len()) && self.vote(packed(word))
    }

    /// Counts a word or the letters of a script, if there are any; returns whether the language is
    /// clear.
    fn unicode_word(&mut self, word: &str) -> bool {
        let in_scripts = word.chars().filter(|c| self.script(*c)).count();
        if word.is_empty() || in_scripts > 0 {
            return false;
        }
        self.words += 1;
        self.letters_against(word);
        let mut lower = [0; MAX_WORD_BYTES];
        let mut length = 0;
        for character in word.chars().flat_map(char::to_lowercase) {
            let Some(room) = lower.get_mut(length..length + character.len_utf8()) else {
                return false;
            };
            length += character.encode_utf8(room).len();
        }
        self.vote(packed(&lower))
    }

    /// Counts a word against the languages that lack one of its letters.
    fn letters_against(&mut self, word: &str) {
        let known = lacking();
        let letters = word.chars().filter(|c| !c.is_ascii());
        let mut rest = letters
            .flat_map(char::to_lowercase)
            .filter_map(|letter| known.get(&letter))
            .fold(0, |all, languages| all | languages);
        while rest != 0 {
            self.by_words[rest.trailing_zeros() as usize] -= AGAINST;
            rest &= rest - 1;
        }
    }

    /// Counts the votes of a lower-case word; returns whether the language is clear.
    fn vote(&mut self, word: u128) -> bool {
        let Some(languages) = table().get(&word).copied() else {
            return false;
        };
        let vote = 2 + VOTE / languages.count_ones() as i32;
        let mut rest = languages;
        let mut most = 0;
        while rest != 0 {
            let votes = &mut self.by_words[rest.trailing_zeros() as usize];
            *votes += vote;
            most = most.max(*votes);
            rest &= rest - 1;
        }
        if most < CLEAR_VOTES {
            return false;
        }
        let (best, second) = self.leaders();
        self.by_words[best] > 2 * self.by_words[second]
    }

    /// Counts a letter of a script that belongs to one language; returns whether it is one.
    fn script(&mut self, character: char) -> bool {
        // Latin, Greek to Cyrillic, and Arabic are decided by words.
        if character < '\u{370}' || ('\u{400}'..'\u{530}').contains(&character) {
            return false;
        }
        let found = SCRIPTS
            .iter()
            .position(|(first, last, _)| (*first..=*last).contains(&character));
        match found {
            Some(script) => self.letters[script] += 1,
            None => return false,
        }
        true
    }

    /// Returns the languages with the most votes and with the second most.
    fn leaders(&self) -> (usize, usize) {
        let (mut best, mut second) = (0, 1);
        if self.by_words[1] > self.by_words[0] {
            (best, second) = (1, 0);
        }
        for language in 2..WORDS.len() {
            if self.by_words[language] > self.by_words[best] {
                (best, second) = (language, best);
            } else if self.by_words[language] > self.by_words[second] {
                second = language;
            }
        }
        (best, second)
    }

    fn winner(&self) -> Option<&'static str> {
        let letters: u32 = self.letters.iter().sum();
        // A word has about five letters.
        if letters > self.words as u32 * 5 / 2 && letters >= MIN_VOTES as u32 {
            return Some(self.script_winner());
        }
        let (best, second) = self.leaders();
        let votes = self.by_words[best];
        let is_prose = votes * MIN_SHARE >= self.words * 2;
        (votes >= MIN_VOTES && votes > self.by_words[second] && is_prose).then(|| WORDS[best].0)
    }

    fn script_winner(&self) -> &'static str {
        let of = |code| -> u32 {
            let scripts = SCRIPTS.iter().zip(self.letters);
            scripts
                .filter(|((_, _, of), _)| *of == code)
                .map(|(_, n)| n)
                .sum()
        };
        let most = (0..SCRIPTS.len()).max_by_key(|script| self.letters[*script]);
        let code = most.map_or("zh", |script| SCRIPTS[script].2);
        match code {
            // Japanese text has Kana between its Han characters.
            "zh" if of("ja") * 20 > of("zh") => "ja",
            // Persian and Urdu have letters that Arabic lacks.
            "ar" if of("fa") * 50 > of("ar") => "fa",
            code => code,
        }
    }
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = HashMap::with_hasher(FixedState::default());
        for (number, (_, words)) in WORDS.iter().enumerate() {
            for word in words.split_whitespace() {
                *table.entry(packed(word.as_bytes())).or_insert(0) |= 1 << number;
            }
        }
        table
    })
}

/// The languages that lack a letter, as bits in the order of [`WORDS`].
fn lacking() -> &'static HashMap<char, u64, FixedState> {
    static TABLE: OnceLock<HashMap<char, u64, FixedState>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = HashMap::with_hasher(FixedState::default());
        for (letters, languages) in LACKING {
            let mut set = 0;
            for (number, (code, _)) in WORDS.iter().enumerate() {
                if languages.split(' ').any(|language| language == *code) {
                    set |= 1 << number;
                }
            }
            for letter in letters.chars() {
                *table.entry(letter).or_insert(0) |= set;
            }
        }
        table
    })
}

/// Letters, each with those related languages that do not use it. Other languages have it in names
/// and loanwords.
const LACKING: [(&str, &str); 12] = [
    ("ыэё", "uk bg sr"),
    ("ъ", "uk sr"),
    ("йщюяь", "sr"),
    ("іїєґ", "ru bg sr"),
    ("ђћџљњј", "ru uk bg"),
    ("äö", "da no"),
    ("æø", "sv fi et"),
    ("ñ", "pt"),
    ("ãõ", "es gl ca"),
    ("řěů", "sk sl hr pl"),
    ("ľĺŕ", "cs sl hr pl"),
    ("ł", "cs sk sl hr"),
];

/// Letters of scripts that belong to one language; in overlapping ranges, the first counts.
const SCRIPTS: [(char, char, &str); 34] = [
    ('\u{370}', '\u{3ff}', "el"),
    ('\u{1f00}', '\u{1fff}', "el"),
    ('\u{531}', '\u{587}', "hy"),
    ('\u{5d0}', '\u{5ea}', "he"),
    ('\u{67e}', '\u{67e}', "fa"),
    ('\u{686}', '\u{686}', "fa"),
    ('\u{698}', '\u{698}', "fa"),
    ('\u{6af}', '\u{6af}', "fa"),
    ('\u{620}', '\u{6ff}', "ar"),
    ('\u{900}', '\u{97f}', "hi"),
    ('\u{980}', '\u{9ff}', "bn"),
    ('\u{a00}', '\u{a7f}', "pa"),
    ('\u{a80}', '\u{aff}', "gu"),
    ('\u{b00}', '\u{b7f}', "or"),
    ('\u{b80}', '\u{bff}', "ta"),
    ('\u{c00}', '\u{c7f}', "te"),
    ('\u{c80}', '\u{cff}', "kn"),
    ('\u{d00}', '\u{d7f}', "ml"),
    ('\u{d80}', '\u{dff}', "si"),
    ('\u{e00}', '\u{e7f}', "th"),
    ('\u{e80}', '\u{eff}', "lo"),
    ('\u{f00}', '\u{fff}', "bo"),
    ('\u{1000}', '\u{109f}', "my"),
    ('\u{10a0}', '\u{10ff}', "ka"),
    ('\u{1100}', '\u{11ff}', "ko"),
    ('\u{1200}', '\u{139f}', "am"),
    ('\u{1780}', '\u{17ff}', "km"),
    ('\u{3040}', '\u{30ff}', "ja"),
    ('\u{31f0}', '\u{31ff}', "ja"),
    ('\u{ac00}', '\u{d7a3}', "ko"),
    ('\u{ff66}', '\u{ff9d}', "ja"),
    ('\u{3400}', '\u{4dbf}', "zh"),
    ('\u{4e00}', '\u{9fff}', "zh"),
    ('\u{20000}', '\u{3ffff}', "zh"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_recognised_by_their_function_words() {
        for (expected, text) in [
            (
                "en",
                "The committee met on Monday and it was decided that the roof will be repaired.",
            ),
            (
                "de",
                "Der Ausschuss hat am Montag getagt und beschlossen, dass das Dach repariert wird.",
            ),
            (
                "fr",
                "Le comité s\u{2019}est réuni lundi et il a décidé que le toit serait réparé dans l'année.",
            ),
            (
                "es",
                "El comité se reunió el lunes y decidió que el tejado se repare con los fondos.",
            ),
            (
                "nl",
                "De commissie is op maandag bijeengekomen en heeft besloten dat het dak wordt hersteld.",
            ),
            (
                "sv",
                "Kommittén möttes på måndagen och det beslutades att taket ska lagas och målas.",
            ),
            (
                "pl",
                "Komisja zebrała się w poniedziałek i postanowiła, że dach będzie naprawiony.",
            ),
            (
                "cs",
                "Výbor se sešel v pondělí a rozhodl, že střecha bude opravena, když to bude možné.",
            ),
            (
                "ru",
                "Комитет собрался в понедельник и решил, что крыша будет отремонтирована, если это можно.",
            ),
            (
                "uk",
                "Комітет зібрався в понеділок і вирішив, що дах буде відремонтовано, якщо це можна.",
            ),
            (
                "el",
                "Η επιτροπή συνεδρίασε τη Δευτέρα και αποφάσισε να επισκευαστεί η στέγη.",
            ),
            (
                "ja",
                "委員会は月曜日に開かれ、屋根を修理することを決めました。",
            ),
            ("zh", "委员会星期一开会，决定修理屋顶。"),
            ("ko", "위원회는 월요일에 모여 지붕을 수리하기로 결정했다."),
            ("th", "คณะกรรมการประชุมกันในวันจันทร์และตัดสินใจซ่อมหลังคา"),
            ("he", "הוועדה התכנסה ביום שני והחליטה לתקן את הגג"),
            ("ar", "اجتمعت اللجنة يوم الاثنين وقررت إصلاح السقف"),
            (
                "fa",
                "کمیته روز دوشنبه تشکیل شد و تصمیم گرفت که سقف را تعمیر کند و پنجره چوبی بگذارد",
            ),
        ] {
            assert_eq!(detect(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn letters_exclude_languages() {
        for (expected, text) in [
            (
                None,
                "Книга лежит на полу, а кошки спят. Москва столица России.",
            ),
            (
                Some("ru"),
                "Кошки спят на полу, а мыши едят сыр и хлеб на кухне, и это их дом.",
            ),
            (
                Some("sr"),
                "Књига је на столу, а мачке су у кући. Београд је главни град.",
            ),
            (
                Some("bg"),
                "Книгата е на масата, а котките са в къщата и спят.",
            ),
            (
                Some("uk"),
                "Книга лежить на столі, а кішки сплять у хаті, і це їх дім.",
            ),
            (
                Some("sv"),
                "Boken är på bordet och katten är i huset med de små barnen för att äta.",
            ),
        ] {
            assert_eq!(detect(text), expected, "{text}");
        }
        for (_, languages) in LACKING {
            let is_known = |code| frequent_words(code).is_some();
            assert!(languages.split(' ').all(is_known), "{languages}");
        }
    }

    #[test]
    fn what_is_no_prose_has_no_language() {
        for text in [
            "",
            "1 2 3",
            "fn main() { write(\"{}\", x); }",
            "Anna Berta Carla Dora",
            "0x3f 0x40 mov eax ebx add eax ecx jmp eax nop nop nop nop",
        ] {
            assert_eq!(detect(text), None, "{text}");
        }
    }

    #[test]
    fn a_set_has_a_bit_for_each_language() {
        assert!(WORDS.len() <= MAX_LANGUAGES);
        for (code, words) in WORDS {
            for word in words.split_whitespace() {
                assert!(word.len() <= MAX_WORD_BYTES, "{code} {word}");
                assert_eq!(word.to_lowercase(), word, "{code} {word}");
            }
        }
    }
}
