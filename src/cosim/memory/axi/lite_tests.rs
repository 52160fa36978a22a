//! A trace that breaks a rule, for every rule of AXI4-Lite.

use super::{assert_found, texts, wires};
use crate::cosim::checks::violation::Violations;
use crate::cosim::memory::axi::*;

const QUIET: LiteWires = LiteWires {
    aw: Wires { shown: None, ready: true },
    w: Wires { shown: None, ready: true },
    b: Wires { shown: None, ready: true },
    ar: Wires { shown: None, ready: true },
    r: Wires { shown: None, ready: true },
};

fn lite(periods: &[LiteWires]) -> String {
    let (mut rules, mut violations) = (LiteRules::new("m_axi"), Violations::default());
    for (cycle, wires) in periods.iter().enumerate() {
        rules.judge(cycle as u64, wires, &mut violations);
    }
    texts(&violations)
}

#[test]
fn registers_are_answered_once_and_after_they_were_asked() {
    let (aw, w) = (wires(Some(8), true), wires(Some((1, 15)), true));
    let (b, ar, r) = (wires(Some(OKAY), true), wires(Some(8), true), wires(Some((3, OKAY)), true));
    let address = LiteWires { aw, ..QUIET };
    let word = LiteWires { w, ..QUIET };
    let done = LiteWires { b, ..QUIET };
    let (read, answer) = (LiteWires { ar, ..QUIET }, LiteWires { r, ..QUIET });
    assert_eq!(lite(&[address, word, done, read, answer, word, address, done]), "");
    assert_eq!(lite(&[address, LiteWires { w, ..address }, done, word, done]), "");
    for periods in [vec![done], vec![address, done], vec![word, done], vec![address, word, done, done]] {
        let cycle = periods.len() as u64 - 1;
        assert_found(&lite(&periods), cycle, "B", "no write is complete");
    }
    assert_found(&lite(&[address, LiteWires { b, ..word }]), 1, "B", "no write is complete");
    for periods in [vec![answer], vec![LiteWires { r, ..read }], vec![read, answer, answer]] {
        assert_found(&lite(&periods), periods.len() as u64 - 1, "R", "nothing was asked");
    }
    let exclusive = LiteWires { b: wires(Some(EXCLUSIVE_OKAY), true), ..QUIET };
    assert_found(&lite(&[address, word, exclusive]), 2, "B", "EXOKAY");
    let exclusive = LiteWires { r: wires(Some((0, EXCLUSIVE_OKAY)), true), ..QUIET };
    assert_found(&lite(&[read, exclusive]), 1, "R", "EXOKAY");
    for (channel, inside) in [
        ("AW", LiteWires { aw: wires(Some(6), true), ..QUIET }),
        ("AR", LiteWires { ar: wires(Some(6), true), ..QUIET }),
    ] {
        assert_found(&lite(&[inside]), 0, channel, "inside a word");
    }
}

#[test]
fn what_stands_at_a_register_stays() {
    let shown = LiteWires {
        aw: wires(Some(8), false),
        w: wires(Some((1, 15)), false),
        b: wires(Some(OKAY), false),
        ar: wires(Some(8), false),
        r: wires(Some((3, OKAY)), false),
    };
    let gone = lite(&[shown, QUIET]);
    let other = LiteWires {
        aw: wires(Some(12), false),
        w: wires(Some((1, 7)), false),
        b: wires(Some(SLAVE_ERROR), false),
        ar: wires(Some(12), false),
        r: wires(Some((4, OKAY)), false),
    };
    let changed = lite(&[shown, other]);
    for channel in ["AW", "W", "B", "AR", "R"] {
        assert_found(&gone, 1, channel, "is gone");
        assert_found(&changed, 1, channel, "has become");
    }
}
