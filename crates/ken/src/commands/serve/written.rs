//! Long answers, which are written as they come.

use ken_api::{Place, Reply};
use ken_web::Write;

use super::directory::Name;

/// Writes an answer as it comes, on a thread of its own: a slow client must not hold one that searches.
pub(super) fn written(
    place: Option<Place<Name>>,
    reply: Reply,
    head: hyper::Response<()>,
    write: Write,
) {
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
