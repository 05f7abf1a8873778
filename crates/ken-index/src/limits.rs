//! When a running search asks for its limits.

pub(crate) use ken_engine::Limits;

/// Returns whether limits are given and reached.
pub(crate) fn reached(limits: Option<&Limits>) -> bool {
    limits.is_some_and(Limits::reached)
}

/// Checks limits once in a number of steps, which together take much longer than a check.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    n_steps: u32,
}

impl Pace {
    const STEPS: u32 = 64;

    /// Counts a step; returns whether limits are reached, which is asked at the first step and at each 64th.
    pub(crate) fn step(&mut self, limits: Option<&Limits>) -> bool {
        let Some(limits) = limits else { return false };
        let asks = self.n_steps.is_multiple_of(Self::STEPS);
        self.n_steps = self.n_steps.wrapping_add(1);
        match asks {
            true => limits.reached(),
            false => limits.ended_early(),
        }
    }
}
