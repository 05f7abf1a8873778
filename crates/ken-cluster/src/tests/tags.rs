//! The log of tags of several machines.

use std::sync::Arc;

use ken_engine::Engine;

use super::{LONG, cluster};
use crate::fake::Fake;

#[test]
fn two_machines_add_to_one_log_of_tags() {
    let fake = Arc::new(Fake::default());
    let machines = ["a", "b"].map(|node| cluster(&fake, node, LONG, LONG));
    assert_eq!(machines[0].tag_log().unwrap(), b"");
    std::thread::scope(|scope| {
        for (machine, of) in machines.iter().zip(["a", "b"]) {
            scope.spawn(move || {
                for n in 0..40 {
                    machine
                        .add_to_tag_log(&format!("+{of}{n} -- id:{n}\n"))
                        .unwrap();
                }
            });
        }
    });
    let [one, other] =
        machines.map(|machine| String::from_utf8(machine.tag_log().unwrap()).unwrap());
    assert_eq!(one, other);
    let mut lines: Vec<&str> = one.lines().collect();
    for of in ["+a", "+b"] {
        let of_one = lines.iter().filter(|line| line.starts_with(of));
        let numbers = of_one.map(|line| line.rsplit(':').next().unwrap().parse::<u32>().unwrap());
        assert_eq!(numbers.collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
    }
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 80);
}

#[test]
fn an_addition_to_the_log_whose_answer_is_lost_is_there_once() {
    let fake = Arc::new(Fake::default());
    let machine = cluster(&fake, "a", LONG, LONG);
    machine.add_to_tag_log("+one -- id:1\n").unwrap();
    fake.lose_answer();
    machine.add_to_tag_log("+two -- id:1\n").unwrap();
    machine.add_to_tag_log("+three -- id:1\n").unwrap();
    assert_eq!(
        String::from_utf8(machine.tag_log().unwrap()).unwrap(),
        "+one -- id:1\n+two -- id:1\n+three -- id:1\n"
    );
}
