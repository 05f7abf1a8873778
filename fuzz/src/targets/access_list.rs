//! An access control list and a class: no panic, a broken list allows nobody, and a class survives as a term.

use ken_core::access::{Asker, Class, Rule, Wish};

pub(super) fn run(bytes: &[u8]) {
    let rule = Rule::new(Wish::Read, 1000, 100, 0o750, Some(bytes));
    let class = Class::new(rule.clone(), []);
    let read = Class::read(&class.to_string());
    assert_eq!(read.as_ref(), Some(&class));
    for asker in [Asker::new(1000, vec![]), Asker::new(7, vec![100, 5])] {
        assert!(!class.allows(&asker) || rule.allows(&asker));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let read = Class::read(text);
        assert_eq!(
            read.as_ref()
                .map(Class::to_string)
                .and_then(|term| Class::read(&term)),
            read
        );
    }
}
