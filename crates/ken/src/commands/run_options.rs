//! How the index is written by the settings alone: for every command that writes.

use ken_pipeline::{Arrangement, Options, default_memory};

use super::{default_threads, global_ignore};
use crate::cli::Global;
use crate::config::{Settings, data_folder, parse_size};
use crate::failure::Failure;

/// Returns the options for writing the index by the settings alone.
pub(super) fn default_options(global: &Global) -> Result<Options, Failure> {
    let settings = Settings::load(global)?;
    let threads = threads(&settings);
    Ok(Options {
        data: data_folder(global)?,
        engine: settings.engine.engine_of_run()?,
        shares: true,
        threads,
        arrangement: Arrangement {
            index_threads: settings.index_threads,
            queue_bytes: parse_size(&settings.queue_bytes)?,
            ..Arrangement::default()
        },
        memory_bytes: usual_memory(&settings)?,
        extract: ken_extract::Options {
            helpers: settings.helpers(global)?,
            ..settings.extraction()?
        },
        full: false,
        retry_failed: false,
        ocr: settings.ocr(false)?,
        folders: settings.folders()?,
        ngrams: settings.ngrams.into(),
        dry_run: false,
        commit_interval: settings.commit_interval()?,
        commit_bytes: parse_size(&settings.commit_bytes)? as u64,
        durability: settings.durability.into(),
        lazy: false,
        order: settings.order.into(),
        background: false,
        global_ignore: global_ignore(),
        excluded: settings.excluded()?,
        access: settings.access.enforce,
    })
}

fn threads(settings: &Settings) -> usize {
    match settings.threads {
        0 => default_threads(),
        threads => threads,
    }
}

/// Returns the memory of a run by the settings.
pub(super) fn usual_memory(settings: &Settings) -> Result<usize, Failure> {
    memory(&settings.memory, threads(settings))
}

/// Reads the memory limit of a run with this number of threads.
pub(super) fn memory(size: &str, threads: usize) -> Result<usize, Failure> {
    Ok(match parse_size(size)? {
        0 => default_memory(threads),
        bytes => bytes,
    })
}

/// Returns whether there is an index with roots. A run that rebuilds it (`full`) can read the roots of a damaged one.
pub(super) fn has_roots(options: &Options, full: bool) -> Result<bool, Failure> {
    use ken_engine::Error;
    match options.meta() {
        Ok(meta) => Ok(!meta.roots.is_empty()),
        Err(Error::Missing(_)) => Ok(false),
        // The roots are read when the index is rebuilt.
        Err(Error::Version { .. } | Error::Damaged { .. }) if full => Ok(true),
        Err(error) => Err(error.into()),
    }
}
