//! The report of a run with faults, held against what must be reported.

use super::expected::{Depth, Expected};
use super::injected::Injected;
use super::seen::Seen;
use crate::design::Design;

/// A fault after its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The fault, as it was given.
    pub fault: String,
    /// Cycle in which it took effect first; `None` if the run did not come so far.
    pub reached: Option<u64>,
    /// What must be reported.
    pub expected: Expected,
    /// It took effect, and what was reported is what must be.
    pub as_expected: bool,
}

/// Judges the faults of a run. Where several take effect, the report is that of the first, so one of those that must be
/// reported has to be; where none must be, nothing may be reported.
pub fn judge(
    faults: &[Injected],
    reached: &[Option<u64>],
    seen: &Seen,
    (design, depth): (&Design, Depth),
) -> Vec<Judged> {
    let expected: Vec<_> = faults.iter().map(|fault| Expected::of(fault, design, depth)).collect();
    let mut due = expected.iter().zip(reached).filter(|(of, at)| at.is_some() && **of != Expected::Nothing);
    let right = match due.clone().next() {
        None => Expected::Nothing.is_met(seen),
        Some(_) => due.any(|(of, _)| of.is_met(seen)),
    };
    let all = faults.iter().zip(reached).zip(expected);
    all.map(|((fault, &reached), expected)| Judged {
        fault: fault.to_string(),
        reached,
        expected,
        as_expected: reached.is_some() && right,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::seen::Outputs;
    use super::*;
    use crate::config::Config;

    fn judged(faults: &[&str], reached: &[Option<u64>], seen: &Seen) -> Vec<bool> {
        let design = Design::from_config("test", &Config::default()).unwrap();
        let faults: Vec<Injected> = faults.iter().map(|text| text.parse().unwrap()).collect();
        judge(&faults, reached, seen, (&design, Depth::Device)).iter().map(|one| one.as_expected).collect()
    }

    fn seen() -> Seen {
        Seen { errors: vec![], rules: vec![], outputs: Outputs::Right(8), ended: None, cleared: false }
    }

    #[test]
    fn a_fault_is_as_expected_only_if_it_was_reached_and_reported() {
        let failed = |place| Seen { errors: vec![("MEMORY", place)], outputs: Outputs::NotTaken, ..seen() };
        let design = Design::from_config("test", &Config::default()).unwrap();
        let tile = (0..design.mesh.tiles() as u32)
            .find(|t| design.memory.port(t % design.mesh.cols(), t / design.mesh.cols()) == 0);
        let (at, other) = (tile.unwrap(), u32::MAX);
        assert_eq!(judged(&["slverr@0:1"], &[Some(3)], &failed(at)), [true]);
        assert_eq!(judged(&["slverr@0:1"], &[None], &failed(at)), [false]);
        assert_eq!(judged(&["slverr@0:1"], &[Some(3)], &failed(other)), [false]);
        assert_eq!(judged(&["slverr@0:1"], &[Some(3)], &seen()), [false]);
        assert_eq!(judged(&["mute@0:1"], &[Some(3)], &failed(at)), [false]);
        assert_eq!(judged(&["stall@0:1+9"], &[Some(3)], &seen()), [true]);
        assert_eq!(judged(&["stall@0:1+9"], &[Some(3)], &failed(at)), [false]);
        let wrong = Seen { outputs: Outputs::Wrong(1, 8), ..seen() };
        assert_eq!(judged(&["stall@0:1+9"], &[Some(3)], &wrong), [false]);
        // The second fault was not reached, since the first ended the run.
        let both = ["slverr@0:1", "stall@0:9+9"];
        assert_eq!(judged(&both, &[Some(3), None], &failed(at)), [true, false]);
        assert_eq!(judged(&both, &[Some(3), Some(9)], &failed(at)), [true, true]);
        // A rule that is broken besides is not what must be reported.
        let broken = Seen { rules: vec!["cycle 3: m_axi_hbm00 R: late".to_owned()], ..failed(at) };
        assert_eq!(judged(&["slverr@0:1"], &[Some(3)], &broken), [false]);
        assert_eq!(judged(&["double@0:1"], &[Some(3)], &broken), [true]);
    }
}
