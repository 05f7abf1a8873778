//! Tells systemd how `ken serve` does (`sd_notify(3)`). Without systemd nothing happens.

use sd_notify::NotifyState;

/// Says that the server works, and what it watches.
pub(super) fn tell(status: &str) {
    // Nobody waits for it.
    let _ = sd_notify::notify(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// Says that the server ends.
pub(super) fn end() {
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
}
