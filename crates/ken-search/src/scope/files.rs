//! The files of a scope: those with a document inside.

use std::path::PathBuf;

use ken_core::{Field, FileKey, FileRow, Location};
use ken_engine::{DocAddress, Error, Files};

use super::Scoped;

impl Scoped<'_> {
    fn has_file(&self, key: FileKey) -> Result<bool, Error> {
        Ok(!Files::documents_of(self, key)?.is_empty())
    }

    fn keep_files(&self, keys: Vec<FileKey>) -> Result<Vec<FileKey>, Error> {
        let mut kept = Vec::new();
        for key in keys {
            if self.has_file(key)? {
                kept.push(key);
            }
        }
        Ok(kept)
    }
}

impl Files for Scoped<'_> {
    fn rows(&self) -> Result<Vec<FileRow>, Error> {
        let mut rows = Vec::new();
        for row in self.inner().files().rows()? {
            if self.has_file(row.key)? {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn each_row(&self, each: &mut dyn FnMut(FileRow, bool)) -> Result<(), Error> {
        let mut rows = Vec::new();
        let files = self.inner().files();
        files.each_row(&mut |row, is_whole| rows.push((row, is_whole)))?;
        for (row, is_whole) in rows {
            if self.has_file(row.key)? {
                each(row, is_whole);
            }
        }
        Ok(())
    }

    fn documents_of(&self, key: FileKey) -> Result<Vec<DocAddress>, Error> {
        let mut documents = self.inner().files().documents_of(key)?;
        self.keep(&mut documents)?;
        Ok(documents)
    }

    fn row_among(
        &self,
        key: FileKey,
        documents: &[DocAddress],
    ) -> Result<Option<(Location, FileRow)>, Error> {
        match self.has_file(key)? {
            true => self.inner().files().row_among(key, documents),
            false => Ok(None),
        }
    }

    fn paths(&self, keys: &[FileKey]) -> Result<Vec<Option<PathBuf>>, Error> {
        let mut paths = self.inner().files().paths(keys)?;
        for (path, key) in paths.iter_mut().zip(keys) {
            if !self.has_file(*key)? {
                *path = None;
            }
        }
        Ok(paths)
    }

    fn values(&self, field: Field) -> Result<Vec<String>, Error> {
        let mut values = Vec::new();
        for value in self.inner().files().values(field)? {
            if self.count(field, &value)? > 0 {
                values.push(value);
            }
        }
        Ok(values)
    }

    fn with_values(&self, field: Field, values: &[&str]) -> Result<Vec<FileKey>, Error> {
        self.keep_files(self.inner().files().with_values(field, values)?)
    }

    fn duplicated(&self) -> Result<Vec<FileKey>, Error> {
        self.keep_files(self.inner().files().duplicated()?)
    }
}
