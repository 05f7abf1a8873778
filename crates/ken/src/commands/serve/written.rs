//! Long answers, which are written as they come.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ken_api::Reply;
use ken_web::Write;

/// Number of answers that are written as they come, at once: each has a thread.
const MAX_WRITTEN: usize = 16;

/// Writes an answer as it comes, on a thread of its own: a slow client must not hold one that searches.
pub(super) fn written(
    n_written: &Arc<AtomicUsize>,
    reply: Reply,
    head: hyper::Response<()>,
    write: Write,
) {
    let place = Place::take(n_written);
    let Some(place) = place else {
        reply.refuse(503, "too many clients read long answers; ask again later");
        return;
    };
    // Without a thread the reply is dropped, and says so.
    let _ = std::thread::Builder::new()
        .name("writer".to_owned())
        .spawn(move || {
            let _place = place;
            let mut pipe = reply.pipe(head);
            // The client is gone.
            let _ = write(&mut pipe).and_then(|()| std::io::Write::flush(&mut pipe));
        });
}

/// One of a number of places, until dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(n_taken: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(Arc::clone(n_taken));
        (n_taken.fetch_add(1, Ordering::Relaxed) < MAX_WRITTEN).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
