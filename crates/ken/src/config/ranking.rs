//! `[ranking]` and `[analysis]`: how hits are ranked, and the languages in which words have forms.

use std::collections::BTreeMap;

use ken_core::{Field, FieldKind, Ranking};
use ken_engine::Reading;
use serde::{Deserialize, Serialize};

use super::Settings;
use super::sources::Wrong;
use crate::failure::{Failure, Kind};

/// See [`Ranking`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RankingSettings {
    /// How soon further positions of a word stop counting.
    pub(crate) k1: f32,
    /// How much the length of a field counts, from 0 to 1.
    pub(crate) b: f32,
    /// The weight of a position with another form of the word.
    pub(crate) stemmed: f32,
    /// The share of the score of a query of one word that only documents with the word itself have.
    pub(crate) literal: f32,
    /// The weight of the words side by side, relative to the words apart.
    pub(crate) phrase: f32,
    /// What a word in the title or file name adds, relative to the word anywhere.
    pub(crate) named: f32,
    /// The weight of a function word where one of several words is enough.
    pub(crate) function_words: f32,
    /// The weight of two adjacent words, relative to one word.
    pub(crate) proximity: f32,
    /// The weight of a word in the name of a folder.
    pub(crate) folder: f32,
    /// The share by which the score of a document of today is raised.
    pub(crate) recency: f32,
    /// The share by which the score of bulk mail and of generated files is lowered.
    pub(crate) bulk: f32,
    /// The number of days after which half of the share remains.
    pub(crate) recency_days: f32,
    /// The weight of a position in a field, by name of the field.
    pub(crate) fields: BTreeMap<String, f32>,
}

impl Default for RankingSettings {
    fn default() -> Self {
        let ranking = Ranking::default();
        Self {
            k1: ranking.k1,
            b: ranking.b,
            stemmed: ranking.stemmed,
            literal: ranking.literal,
            phrase: ranking.phrase,
            named: ranking.named,
            function_words: ranking.function_words,
            proximity: ranking.proximity,
            folder: ranking.folder,
            recency: ranking.recency,
            bulk: ranking.bulk,
            recency_days: ranking.recency_days,
            fields: BTreeMap::new(),
        }
    }
}

/// Turning words into terms.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AnalysisSettings {
    /// The languages whose rules give words their forms; those of the documents if not set.
    pub(crate) stem: Option<Vec<String>>,
}

impl AnalysisSettings {
    /// Returns the languages whose rules give words their forms, if they are set.
    pub(super) fn checked_languages(&self) -> Result<Option<&[String]>, Failure> {
        let Some(languages) = &self.stem else {
            return Ok(None);
        };
        match ken_index::unknown_language(languages) {
            None => Ok(Some(languages)),
            Some(unknown) => Err(no_stemmer(unknown)),
        }
    }
}

fn no_stemmer(language: &str) -> Failure {
    let message = format!("analysis.stem: ken has no stemmer for the language \"{language}\"");
    Failure::new(Kind::Usage, message).hint("write language codes: en, de, fr, …")
}

impl RankingSettings {
    /// Returns the weights after checking them.
    pub(crate) fn ranking(&self) -> Result<Ranking, Failure> {
        self.checked().map_err(|wrong| wrong.failure)
    }

    /// Returns the weights, or the first that is none.
    pub(super) fn checked(&self) -> Result<Ranking, Wrong> {
        let mut ranking = Ranking {
            k1: at_least("k1", self.k1, 0.01)?,
            b: at_least("b", self.b, 0.0)?.min(1.0),
            stemmed: at_least("stemmed", self.stemmed, 0.0)?,
            literal: at_least("literal", self.literal, 0.0)?.min(1.0),
            phrase: at_least("phrase", self.phrase, 0.0)?,
            named: at_least("named", self.named, 0.0)?,
            function_words: at_least("function_words", self.function_words, 0.0)?,
            proximity: at_least("proximity", self.proximity, 0.0)?,
            folder: at_least("folder", self.folder, 0.0)?,
            recency: at_least("recency", self.recency, 0.0)?,
            bulk: at_least("bulk", self.bulk, 0.0)?.min(1.0),
            recency_days: at_least("recency_days", self.recency_days, 0.001)?,
            ..Ranking::default()
        };
        for (name, weight) in &self.fields {
            let field = Field::from_name(name).filter(|f| f.info().kind == FieldKind::Text);
            let Some(field) = field else {
                let message = format!("ranking.fields: there is no text field \"{name}\"");
                return Err(Wrong {
                    key: vec!["ranking".to_owned(), "fields".to_owned()],
                    failure: Failure::new(Kind::Usage, message),
                });
            };
            ranking.set_weight(field, at_least(name, *weight, 0.0)?);
        }
        Ok(ranking)
    }
}

fn at_least(name: &str, value: f32, least: f32) -> Result<f32, Wrong> {
    if value.is_finite() && value >= least {
        return Ok(value);
    }
    let message = format!("ranking.{name}: {value} is not a valid weight");
    let hint = format!("write a number of at least {least}");
    Err(Wrong {
        key: vec!["ranking".to_owned(), name.to_owned()],
        failure: Failure::new(Kind::Usage, message).hint(&hint),
    })
}

impl Settings {
    /// Returns how the index answers.
    pub(crate) fn reading(&self) -> Result<Reading, Failure> {
        Ok(Reading {
            ranking: self.ranking.ranking()?,
            stemming: self.analysis.checked_languages()?.map(<[_]>::to_vec),
        })
    }
}
