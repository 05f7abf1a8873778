//! Draws one document, or reads where the words of its page are. A worker runs this.

#[cfg(feature = "draw")]
mod bounds;
#[cfg(feature = "draw")]
mod cover;
#[cfg(feature = "draw")]
mod encode;
#[cfg(feature = "draw")]
mod page;
#[cfg(feature = "draw")]
mod picture;
#[cfg(feature = "draw")]
mod raster;

use std::panic::{AssertUnwindSafe, catch_unwind};

use ken_core::{Cause, Crash, Reader};

use crate::formats::pdf;
use crate::picture::{Drawn, NAME, Order};
use crate::{Error, Input, Limits, panic_text};

/// The media type of which pages are drawn.
const PDF: &str = "application/pdf";

/// Makes of a document what is ordered.
pub(crate) fn draw(input: &mut Input<'_>, order: Order, limits: &Limits) -> Result<Drawn, Cause> {
    let drawn = catch_unwind(AssertUnwindSafe(|| drawn(input, order, limits)));
    drawn
        .map_err(|panic| Cause::Crashed {
            reader: Reader::Parser(NAME.to_owned()),
            how: Crash::Panicked,
            said: panic_text(&*panic).to_owned(),
        })?
        .map_err(Cause::from)
}

fn drawn(input: &mut Input<'_>, order: Order, limits: &Limits) -> Result<Drawn, Error> {
    let media_type = input.detect()?.media_type;
    match order {
        Order::Text { page } if media_type == PDF => {
            pdf::page_text(input, page, limits).map(Drawn::Text)
        }
        #[cfg(feature = "draw")]
        _ => picture::draw(input, media_type, order, limits).map(Drawn::Picture),
        #[cfg(not(feature = "draw"))]
        _ => Err(Error::unsupported(
            "this ken was built without the feature pictures".to_owned(),
        )),
    }
}
