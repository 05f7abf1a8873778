//! What people take of something that all share: nobody shuts the others out.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many of something guests have, each of them and together. A guest is somebody with a key; who has none is bounded by the
/// number of all alone.
pub struct Taken<K> {
    each: HashMap<K, usize>,
    by_guests: usize,
    all: usize,
}

impl<K> Default for Taken<K> {
    fn default() -> Self {
        Self {
            each: HashMap::new(),
            by_guests: 0,
            all: 0,
        }
    }
}

impl<K: Clone + Eq + Hash> Taken<K> {
    /// Returns whether there is another one of `max` for somebody. A guest gets a quarter of them, and all guests leave a
    /// quarter to others.
    pub fn has_place(&self, guest: &Option<K>, max: usize) -> bool {
        let quarter = max.div_ceil(4);
        let of_guest = |name| {
            let n = self.each.get(name).copied().unwrap_or(0);
            n < quarter && self.by_guests < (max - quarter).max(1)
        };
        self.all < max && guest.as_ref().is_none_or(of_guest)
    }

    /// Counts one more of somebody.
    pub fn add(&mut self, guest: &Option<K>) {
        self.all += 1;
        if let Some(name) = guest {
            self.by_guests += 1;
            *self.each.entry(name.clone()).or_default() += 1;
        }
    }

    /// Counts one of somebody less.
    pub fn remove(&mut self, guest: &Option<K>) {
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
pub struct Places<K>(Arc<Shared<K>>);

struct Shared<K> {
    taken: Mutex<Taken<K>>,
    max: usize,
}

impl<K> Clone for Places<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// One of a number of places, until dropped.
pub struct Place<K: Clone + Eq + Hash> {
    places: Places<K>,
    guest: Option<K>,
}

impl<K: Clone + Eq + Hash> Places<K> {
    /// Returns this number of places.
    pub fn new(max: usize) -> Self {
        Self(Arc::new(Shared {
            taken: Mutex::default(),
            max,
        }))
    }

    /// Takes a place; none if there is none for this guest.
    pub fn take(&self, guest: &Option<K>) -> Option<Place<K>> {
        let mut taken = self.lock();
        taken.has_place(guest, self.0.max).then(|| {
            taken.add(guest);
            Place {
                places: self.clone(),
                guest: guest.clone(),
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Taken<K>> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        self.places.lock().remove(&self.guest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_has_a_quarter_and_others_the_rest() {
        let places = Places::new(16);
        let take =
            |guest: &Option<u32>| std::iter::from_fn(|| places.take(guest)).collect::<Vec<_>>();
        let guests = [1, 2, 3, 4].map(Some);
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
            let guest = Some("anna");
            let held: Vec<_> = std::iter::from_fn(|| places.take(&guest)).collect();
            assert_eq!(held.len(), expected, "{max}");
        }
    }
}
