//! Where glyphs are shown one after the other: their start, direction and size.

use hayro_font::kurbo::Vec2;

/// Start and direction of a run of glyphs.
///
/// Text at each angle has its own upright frame, in which lines run to the right and follow each
/// other downwards. Vertical writing is text at 270 degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    /// Degrees from the page's horizontal, counterclockwise.
    pub(super) angle: i16,
    /// Start along the line.
    pub(super) x: f32,
    /// Baseline.
    pub(super) y: f32,
    /// Units of the page for one unit of text space along the line.
    pub(super) scale: f32,
    pub(super) size: f32,
    /// The direction of the line on the page, of length 1.
    pub(super) unit: (f32, f32),
    /// How far glyphs reach below and above the baseline.
    pub(super) reach: [f32; 2],
}

impl Run {
    /// Creates the run that starts at `start` (on the page), takes steps of `along` and has glyphs
    /// of height `size`; returns none if they have no extent.
    pub(super) fn new(start: Vec2, along: Vec2, size: f64) -> Option<Self> {
        let scale = along.hypot();
        if !(scale.is_normal() && size.is_normal() && start.is_finite()) {
            return None;
        }
        let unit = along / scale;
        let angle = if unit.y == 0.0 && unit.x > 0.0 {
            0
        } else {
            unit.y.atan2(unit.x).to_degrees().round() as i16
        };
        Some(Self {
            angle: angle.rem_euclid(360),
            x: start.dot(unit) as f32,
            y: (start.y * unit.x - start.x * unit.y) as f32,
            scale: scale as f32,
            size: size as f32,
            unit: (unit.x as f32, unit.y as f32),
            reach: [0.0; 2],
        })
    }

    /// Makes its glyphs reach below and above the baseline by these shares of the font size.
    pub(super) fn reaching(self, shares: [f32; 2]) -> Self {
        let reach = shares.map(|share| share * self.size);
        Self { reach, ..self }
    }
}
