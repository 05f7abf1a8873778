//! The files of a commit.

use std::path::PathBuf;

use ken_core::{Field, FileKey, FileRow, Location};
use ken_engine::{DocAddress, Error, FileState, Files, Source};

use super::Snapshot;
use crate::columns::catalogue;
use crate::doc_address::AddressParts;
use crate::postings::{files, keywords};

impl Files for Snapshot {
    fn rows(&self) -> Result<Vec<FileRow>, Error> {
        let mut all = Vec::with_capacity(self.searcher.num_docs() as usize);
        self.each_row(&mut |row, _| all.push(row))?;
        catalogue::unite(&mut all);
        Ok(all)
    }

    fn each_row(&self, each: &mut dyn FnMut(FileRow, bool)) -> Result<(), Error> {
        for segment in self.searcher.segment_readers() {
            catalogue::read(segment, each).map_err(|e| self.error(e))?;
        }
        Ok(())
    }

    fn documents_of(&self, key: FileKey) -> Result<Vec<DocAddress>, Error> {
        let mut addresses = Vec::new();
        for (ordinal, segment) in (0..).zip(self.searcher.segment_readers()) {
            let keys = &self.columns_of(ordinal)?.keys;
            let terms = segment.inverted_index(self.columns.file);
            let terms = terms.map_err(|e| self.error(e))?;
            files::each_among(&terms, self.columns.file, keys, [(key, ())], |doc, ()| {
                if !segment.is_deleted(doc) {
                    addresses.push(DocAddress::at(ordinal, doc));
                }
            })
            .map_err(|e| self.error(e))?;
        }
        Ok(addresses)
    }

    fn row_among(
        &self,
        key: FileKey,
        documents: &[DocAddress],
    ) -> Result<Option<(Location, FileRow)>, Error> {
        for at in documents {
            if let Some(FileState { token, identity }) =
                self.columns_of(at.segment())?.state(at.doc())
            {
                let row = FileRow {
                    key,
                    token,
                    identity,
                };
                return Ok(Some((self.location(*at)?, row)));
            }
        }
        Ok(None)
    }

    fn paths(&self, keys: &[FileKey]) -> Result<Vec<Option<PathBuf>>, Error> {
        let mut paths = vec![None; keys.len()];
        for segment in self.searcher.segment_readers() {
            files::paths(segment, self.columns.file, keys, &mut paths)
                .map_err(|e| self.error(e))?;
        }
        Ok(paths)
    }

    fn values(&self, field: Field) -> Result<Vec<String>, Error> {
        let segments = self.searcher.segment_readers();
        keywords::values(segments, self.columns.of(field)).map_err(|e| self.error(e))
    }

    fn with_values(&self, field: Field, values: &[&str]) -> Result<Vec<FileKey>, Error> {
        let segments = self.searcher.segment_readers();
        keywords::files_with(segments, self.columns.of(field), values).map_err(|e| self.error(e))
    }

    fn duplicated(&self) -> Result<Vec<FileKey>, Error> {
        let segments = self.searcher.segment_readers();
        let duplicated = catalogue::duplicated(segments, &self.meta.hasher);
        duplicated.map_err(|error| self.error(error))
    }
}
