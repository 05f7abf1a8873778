//! What people take of something that all share: nobody shuts the others out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::directory::Name;

/// For whom something is done; none if it is for the user of the server.
pub(super) type Guest = Option<Name>;

/// How many of something people have, each of them and together.
#[derive(Default)]
pub(super) struct Taken {
    each: HashMap<Name, usize>,
    by_guests: usize,
    all: usize,
}

impl Taken {
    /// Returns whether there is another one of `max` for somebody. A guest gets a quarter of them, and all guests leave a
    /// quarter to the user of the server.
    pub(super) fn has_place(&self, guest: &Guest, max: usize) -> bool {
        let quarter = max.div_ceil(4);
        let of_guest = |name| {
            let n = self.each.get(name).copied().unwrap_or(0);
            n < quarter && self.by_guests < (max - quarter).max(1)
        };
        self.all < max && guest.as_ref().is_none_or(of_guest)
    }

    pub(super) fn add(&mut self, guest: &Guest) {
        self.all += 1;
        if let Some(name) = guest {
            self.by_guests += 1;
            *self.each.entry(name.clone()).or_default() += 1;
        }
    }

    pub(super) fn remove(&mut self, guest: &Guest) {
        self.all -= 1;
        if let Some(name) = guest {
            self.by_guests -= 1;
            if let Some(n) = self.each.get_mut(name) {
                *n -= 1;
                if *n == 0 {
                    self.each.remove(name);
                }
            }
        }
    }
}

/// A number of places.
#[derive(Clone)]
pub(super) struct Places {
    taken: Arc<Mutex<Taken>>,
    max: usize,
}

/// One of a number of places, until dropped.
pub(super) struct Place {
    places: Places,
    guest: Guest,
}

impl Places {
    pub(super) fn new(max: usize) -> Self {
        Self {
            taken: Arc::default(),
            max,
        }
    }

    /// Takes a place; none if there is none for this guest.
    pub(super) fn take(&self, guest: &Guest) -> Option<Place> {
        let mut taken = self.lock();
        taken.has_place(guest, self.max).then(|| {
            taken.add(guest);
            Place {
                places: self.clone(),
                guest: guest.clone(),
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().remove(&self.guest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_has_a_quarter_and_the_user_of_the_server_the_rest() {
        let places = Places::new(16);
        let take = |guest: &Guest| std::iter::from_fn(|| places.take(guest)).collect::<Vec<_>>();
        let guests = [1, 2, 3, 4].map(|uid| Some(Name::Number(uid)));
        let held = guests.each_ref().map(take);
        assert_eq!(held.each_ref().map(Vec::len), [4, 4, 4, 0]);
        assert_eq!(take(&None).len(), 4);
        let [first, ..] = held;
        drop(first);
        assert_eq!(take(&guests[3]).len(), 4);
        assert_eq!(take(&None).len(), 8);
    }

    #[test]
    fn guests_have_one_of_few() {
        for (max, expected) in [(1, 1), (2, 1), (3, 1), (4, 1), (5, 2)] {
            let places = Places::new(max);
            let guest = Some(Name::Text("anna".to_owned()));
            let held: Vec<_> = std::iter::from_fn(|| places.take(&guest)).collect();
            assert_eq!(held.len(), expected, "{max}");
        }
    }
}
