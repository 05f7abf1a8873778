//! Divides work on similar parts (segments, hits) among threads, if it takes long enough.
//!
//! The cost of a query is not known beforehand: a word may be in one document or in all of them, and a pattern
//! may mean one term or thousands. So one thread begins with the smallest parts, and their time is the estimate
//! for the others. Most queries are answered before another thread would have started.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::index::SegmentReader;
use tantivy::query::{EnableScoring, Query};
use tantivy::{Searcher, SegmentOrdinal};

use crate::limits::{Limits, reached};

/// The work that is worth a thread of its own: starting a thread and giving it memory takes up to 200 µs.
const WORTH: Duration = Duration::from_micros(800);
/// The part of the documents after which the time of the other segments is estimated: segments may differ.
const SAMPLE: u64 = 50;

/// Calls `call` with every part and its number, on at most this many threads, and returns the results in the order
/// of the parts. `size` returns the work of a part, relative to the others.
///
/// # Errors
/// Fails if one of the calls does.
pub fn each<P: Sync, T: Send, E: Send>(
    parts: &[P],
    size: impl Fn(&P) -> u64,
    max_threads: usize,
    call: impl Fn(usize, &P) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    sampled(parts, size, u64::MAX, WORTH, max_threads, call)
}

/// Does the same, but concludes nothing before one of `sample` parts of the work is done, and starts a thread for
/// each `worth` of work.
fn sampled<P: Sync, T: Send, E: Send>(
    parts: &[P],
    size: impl Fn(&P) -> u64,
    sample: u64,
    worth: Duration,
    max_threads: usize,
    call: impl Fn(usize, &P) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let call = |at: usize| call(at, &parts[at]);
    let sizes: Vec<u64> = parts.iter().map(size).collect();
    let mut by_size: Vec<usize> = (0..parts.len()).collect();
    by_size.sort_by_key(|at| sizes[*at]);
    let mut done: Vec<(usize, T)> = Vec::with_capacity(parts.len());
    let (mut before, mut left) = (0, sizes.iter().sum());
    let begun = Instant::now();
    for (number, at) in by_size.iter().enumerate() {
        let n_worth = n_worth(begun.elapsed(), before, left, sample, worth);
        let n_threads = if n_worth > 1 {
            let n_left = parts.len() - number;
            n_worth.min(n_cores()).min(n_left).min(max_threads)
        } else {
            1
        };
        if n_threads > 1 {
            done.extend(by_threads(n_threads, &by_size[number..], call)?);
            break;
        }
        done.push((*at, call(*at)?));
        before += sizes[*at];
        left -= sizes[*at];
    }
    done.sort_unstable_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// Calls `call` with every segment and its number, and returns the results in the order of the segments.
///
/// # Errors
/// Fails if one of the calls does.
pub(crate) fn over<T: Send>(
    segments: &[SegmentReader],
    call: impl Fn(SegmentOrdinal, &SegmentReader) -> tantivy::Result<T> + Sync,
) -> tantivy::Result<Vec<T>> {
    let n_docs = |segment: &SegmentReader| segment.max_doc().into();
    let call = |at, segment: &SegmentReader| call(at as SegmentOrdinal, segment);
    sampled(segments, n_docs, SAMPLE, WORTH, usize::MAX, call)
}

/// Searches as [`Searcher::search`] does; once limits are reached, no further segment is searched.
///
/// # Errors
/// Fails if the index cannot be read.
pub(crate) fn search<C: Collector>(
    searcher: &Searcher,
    query: &dyn Query,
    collector: &C,
    limits: Option<&Limits>,
) -> tantivy::Result<C::Fruit> {
    let scoring = match collector.requires_scoring() {
        true => EnableScoring::enabled_from_searcher(searcher),
        false => EnableScoring::disabled_from_searcher(searcher),
    };
    let weight = query.weight(scoring)?;
    collector.check_schema(searcher.schema())?;
    let fruits: Vec<<C::Child as SegmentCollector>::Fruit> = over(
        searcher.segment_readers(),
        |number, segment| match reached(limits) {
            true => Ok(collector.for_segment(number, segment)?.harvest()),
            false => collector.collect_segment(&*weight, number, segment),
        },
    )?;
    collector.merge_fruits(fruits)
}

/// Returns how many threads are worth starting for so much work, if that before took so long.
fn n_worth(elapsed: Duration, before: u64, left: u64, sample: u64, worth: Duration) -> usize {
    if before == 0 || before.saturating_mul(sample) < before + left {
        return 1;
    }
    let expected = elapsed.as_nanos() * u128::from(left) / u128::from(before);
    usize::try_from(expected / worth.as_nanos().max(1)).unwrap_or(usize::MAX)
}

/// Returns how many threads may run at once.
pub(crate) fn n_cores() -> usize {
    // Asking the system takes as long as some queries.
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Calls `call` with all of them, from the last to the first, on this many threads, including this one.
fn by_threads<T: Send, E: Send>(
    n_threads: usize,
    all: &[usize],
    call: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<(usize, T)>, E> {
    let n_left = AtomicUsize::new(all.len());
    let take = || {
        let left = n_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        left.ok().map(|n| all[n - 1])
    };
    let work = || {
        let _end = End(&n_left);
        let mut done = Vec::new();
        while let Some(at) = take() {
            done.push((at, call(at)?));
        }
        Ok(done)
    };
    thread::scope(|scope| {
        // If the system refuses a thread, there are fewer.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..n_threads).map_while(start).collect();
        let mut done = work()?;
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(done)
    })
}

/// Dropped when a thread ends: nothing is left, or it failed or panicked, and the rest is not needed.
struct End<'a>(&'a AtomicUsize);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::{Barrier, Mutex};

    use tantivy::TantivyError;

    use super::*;

    #[test]
    fn each_is_called_once_by_all_threads() {
        // No thread continues before all threads have begun.
        let (all, begun) = ([0, 1, 2, 3], Barrier::new(4));
        let callers = Mutex::new(HashSet::new());
        let mut done = by_threads(4, &all, |at| {
            begun.wait();
            callers.lock().unwrap().insert(thread::current().id());
            Ok::<_, ()>(at * 2)
        })
        .unwrap();
        done.sort_unstable();
        assert_eq!(done, [(0, 0), (1, 2), (2, 4), (3, 6)]);
        assert_eq!(callers.into_inner().unwrap().len(), 4);
    }

    #[test]
    fn results_are_in_the_order_of_their_parts() {
        let sizes = [5, 900, 1, 70, 0, 70, 3];
        let size = |size: &u64| *size;
        let number = |at, size: &u64| Ok::<_, ()>((at, *size));
        for max_threads in [1, 3, usize::MAX] {
            // Any work is worth a thread, or none is.
            for worth in [Duration::ZERO, Duration::MAX] {
                let all = sampled(&sizes, size, u64::MAX, worth, max_threads, number).unwrap();
                assert!(all.into_iter().eq(sizes.into_iter().enumerate()));
            }
        }
        let fail = |_, size: &u64| match size {
            900 => Err("900"),
            _ => Ok(()),
        };
        let failed = sampled(&sizes, size, u64::MAX, Duration::ZERO, 3, fail);
        assert_eq!(failed, Err("900"));
    }

    #[test]
    fn work_that_is_worth_no_thread_stays_on_one() {
        let caller = |_, _: &u64| Ok::<_, ()>(thread::current().id());
        let callers = sampled(&[1; 9], |_| 1, u64::MAX, Duration::MAX, 9, caller);
        assert_eq!(callers, Ok(vec![thread::current().id(); 9]));
    }

    #[test]
    fn an_error_ends_all() {
        let all: Vec<usize> = (0..1000).collect();
        let n_calls = AtomicUsize::new(0);
        let result = by_threads(2, &all, |at| match at {
            990 => Err(TantivyError::InvalidArgument("no".to_owned())),
            _ => {
                n_calls.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(1));
                Ok(())
            }
        });
        assert!(result.is_err());
        assert!(n_calls.into_inner() < 900);
    }

    #[test]
    fn threads_are_started_for_long_work_only() {
        let worth = Duration::from_millis(1);
        let n_worth = |millis, before, left| {
            n_worth(Duration::from_millis(millis), before, left, SAMPLE, worth)
        };
        assert_eq!(n_worth(1, 1_000, 1_000), 1);
        assert_eq!(n_worth(1, 1_000, 9_000), 9);
        // Too few documents give no estimate.
        assert_eq!(n_worth(1_000, 1, 9_000), 1);
        assert_eq!(n_worth(1_000, 0, 0), 1);
        // For parts of one kind even a few give an estimate.
        let little = super::n_worth(worth * 1_000, 1, 9_000, u64::MAX, worth);
        assert_eq!(little, 9_000_000);
    }
}
