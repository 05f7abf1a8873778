//! How large a picture may be.

use crate::picture::MAX_WIDTH;

/// Pages are not drawn higher than this number of pixels.
const MAX_HEIGHT: u32 = 2 * MAX_WIDTH;
/// Pictures do not have more pixels than this.
const MAX_PIXELS: f64 = 16_777_216.0;

/// The largest width and height of a picture in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    width: u32,
    height: u32,
}

impl Bounds {
    /// Returns the bounds of a page.
    pub(super) fn of_page(width: u32) -> Self {
        Self {
            width: width.clamp(1, MAX_WIDTH),
            height: MAX_HEIGHT,
        }
    }

    /// Returns the bounds of a thumbnail, into which an upright sheet of paper fits.
    pub(super) fn of_thumbnail(width: u32) -> Self {
        let width = width.clamp(1, MAX_WIDTH);
        Self {
            width,
            height: width.div_ceil(2) * 3,
        }
    }

    /// Returns the largest size in pixels that has these proportions.
    pub(super) fn fit(self, width: f64, height: f64) -> (u32, u32) {
        let scale = (f64::from(self.width) / width)
            .min(f64::from(self.height) / height)
            .min((MAX_PIXELS / (width * height)).sqrt());
        let scaled = |length: f64, most: u32| ((length * scale).round() as u32).clamp(1, most);
        (scaled(width, self.width), scaled(height, self.height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportions_are_kept_within_the_bounds() {
        let page = Bounds::of_page(1_000);
        assert_eq!(page.fit(595.0, 842.0), (1_000, 1_415));
        assert_eq!(page.fit(1.0, 1e30), (1, MAX_HEIGHT));
        assert_eq!(page.fit(1e30, 1.0), (1_000, 1));
        let (width, height) = Bounds::of_page(u32::MAX).fit(1.0, 2.0);
        assert!(f64::from(width * height) < 1.01 * MAX_PIXELS && height.abs_diff(2 * width) < 3);
        assert_eq!(Bounds::of_thumbnail(200).fit(100.0, 800.0), (38, 300));
        assert_eq!(Bounds::of_thumbnail(0).fit(0.1, 0.1), (1, 1));
    }
}
