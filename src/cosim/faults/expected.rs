//! The report that must follow a fault.

use super::injected::{Injected, MemoryPlace, Reset, What};
use super::seen::{place, Outputs, Seen};
use crate::cosim::memory::FaultKind;
use crate::design::{Design, Flaw};
use std::fmt;

/// Part of the design that a run has, which decides who reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// `meshkv_top`: ERROR and ERROR_INFO.
    Device,
    /// `meshkv_core` or `meshkv_fabric`: `error_memory` and `error_timeout` of each tile, by the names of ERROR.
    Core,
}

/// The report that must follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Nothing is reported, and every output is right.
    Nothing,
    /// An error of this name at one of these places; outputs are not taken for right.
    Error {
        /// Its name in ERROR.
        cause: &'static str,
        /// Places that ERROR_INFO may name.
        places: Vec<u32>,
    },
    /// The rules of AXI4 name this interface: no design can be asked to notice.
    Rule {
        /// Part of its name.
        interface: String,
    },
    /// No design notices it: the program's comparison of outputs does, where it changes one.
    Compared,
    /// The device is as after power-up, and no run has ended: the host sees that its run is gone.
    Cleared,
}

impl Expected {
    /// The report of a fault in a run of a design.
    pub fn of(fault: &Injected, design: &Design, depth: Depth) -> Expected {
        match &fault.what {
            What::PeClock(_) | What::Jitter(_) => Expected::Nothing,
            What::Flip((x, y), side, ..) if design.flit.parity => {
                let tile = design.mesh.node(*x, *y).expect("a fault of this design has its place");
                Expected::error("PARITY", vec![Flaw::Router(*side).info(tile)])
            }
            What::Flip(..) => Expected::Compared,
            What::CutList(first) => Expected::error("START_LIST", vec![*first]),
            What::Reset(Reset::Soft, _) => Expected::error("RESET", vec![0]),
            What::Reset(Reset::Compute, _) => Expected::error("RESET", vec![2]),
            What::Reset(Reset::Device, _) => Expected::Cleared,
            What::Memory(place, of) => match of.kind {
                FaultKind::SlaveError | FaultKind::DecodeError => error(*place, design),
                FaultKind::Mute | FaultKind::Deaf | FaultKind::Shut => silence(*place, design),
                FaultKind::Late(_) if fault.what.is_too_late() => silence(*place, design),
                FaultKind::Late(_) | FaultKind::Still { .. } => Expected::Nothing,
                FaultKind::Flip(_) => Expected::Compared,
                FaultKind::Twice | FaultKind::EarlyLast | FaultKind::NoLast => {
                    Expected::Rule { interface: interface(*place, depth) }
                }
            },
        }
    }

    fn error(cause: &'static str, places: Vec<u32>) -> Expected {
        Expected::Error { cause, places }
    }

    /// True if this was reported.
    pub(super) fn is_met(&self, seen: &Seen) -> bool {
        match self {
            Expected::Nothing => {
                seen.errors.is_empty()
                    && seen.rules.is_empty()
                    && seen.ended.is_none()
                    && matches!(seen.outputs, Outputs::Right(_))
            }
            Expected::Error { cause, places } => {
                let named = seen.errors.iter().any(|(name, place)| name == cause && places.contains(place));
                named && seen.ended.is_none() && seen.rules.is_empty()
            }
            Expected::Rule { interface } => seen.rules.iter().any(|rule| rule.contains(interface)),
            Expected::Compared => {
                seen.outputs != Outputs::NotTaken || seen.ended.is_some() || !seen.errors.is_empty()
            }
            Expected::Cleared => seen.cleared && seen.rules.is_empty(),
        }
    }
}

/// Tiles that read through a port of external memory.
fn tiles(design: &Design, port: u32) -> Vec<u32> {
    let (cols, tiles) = (design.mesh.cols(), design.mesh.tiles() as u32);
    (0..tiles).filter(|tile| design.memory.port(tile % cols, tile / cols) == port).collect()
}

/// The report of an answer by an error.
fn error(place: MemoryPlace, design: &Design) -> Expected {
    match place {
        MemoryPlace::Hbm(port) => Expected::error("MEMORY", tiles(design, port)),
        MemoryPlace::Queries => Expected::error("QUERY_READ", vec![0, 1]),
        MemoryPlace::Outputs => Expected::error("OUTPUT_WRITE", vec![0]),
        MemoryPlace::Tokens(port) => Expected::error("TOKEN_WRITE", vec![port]),
    }
}

/// The report of no answer.
fn silence(place: MemoryPlace, design: &Design) -> Expected {
    match place {
        MemoryPlace::Hbm(port) => Expected::error("MEMORY_TIMEOUT", tiles(design, port)),
        MemoryPlace::Queries => Expected::error("IO_TIMEOUT", vec![0, 3]),
        MemoryPlace::Outputs => Expected::error("IO_TIMEOUT", vec![1]),
        MemoryPlace::Tokens(port) => Expected::error("TOKEN_TIMEOUT", vec![port]),
    }
}

/// Part of the name that the rules give an interface.
fn interface(place: MemoryPlace, depth: Depth) -> String {
    match (place, depth) {
        (MemoryPlace::Hbm(port), Depth::Core) => format!("memory port {port},"),
        (MemoryPlace::Hbm(port) | MemoryPlace::Tokens(port), _) => format!("m_axi_hbm{port:02}"),
        (MemoryPlace::Queries | MemoryPlace::Outputs, _) => "m_axi_io".to_owned(),
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Nothing => f.write_str("no error, and every output right"),
            Expected::Error { cause, places } => {
                let places: Vec<_> = places.iter().map(|&info| place(cause, info)).collect();
                write!(f, "{cause} at {}", places.join(" or "))
            }
            Expected::Rule { interface } => {
                write!(f, "a broken rule of AXI4 at {}", interface.trim_end_matches(','))
            }
            Expected::Compared => {
                f.write_str("what the comparison of outputs finds, since no design notices it")
            }
            Expected::Cleared => f.write_str("a device as after power-up, whose run has not ended"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn expected(text: &str, depth: Depth) -> Expected {
        let design = Design::from_config("test", &Config::default()).unwrap();
        Expected::of(&text.parse().unwrap(), &design, depth)
    }

    #[test]
    fn every_fault_has_a_report() {
        let cause = |text: &str| match expected(text, Depth::Device) {
            Expected::Error { cause, places } => {
                assert!(!places.is_empty(), "{text}");
                cause
            }
            other => panic!("{text}: {other}"),
        };
        for (text, wanted) in [
            ("slverr@0:1", "MEMORY"),
            ("mute@0:1", "MEMORY_TIMEOUT"),
            ("late@0:1+200000", "MEMORY_TIMEOUT"),
            ("decerr@queries:1", "QUERY_READ"),
            ("refuse@queries:1", "IO_TIMEOUT"),
            ("slverr@outputs:1", "OUTPUT_WRITE"),
            ("slverr@tokens0:1", "TOKEN_WRITE"),
            ("mute@tokens0:1", "TOKEN_TIMEOUT"),
            ("reset@soft:1", "RESET"),
            ("cut@list:1", "START_LIST"),
        ] {
            assert_eq!(cause(text), wanted, "{text}");
        }
        for text in ["flip@0:1.7", "flip@link:0,0.east:4.2"] {
            assert_eq!(expected(text, Depth::Device), Expected::Compared, "{text}");
        }
        for text in ["late@0:1+20", "stall@0:1+20", "clock@pe:300", "jitter@pe:5"] {
            assert_eq!(expected(text, Depth::Device), Expected::Nothing, "{text}");
        }
        let rule = |depth| expected("double@0:1", depth).to_string();
        assert_eq!(rule(Depth::Device), "a broken rule of AXI4 at m_axi_hbm00");
        assert_eq!(rule(Depth::Core), "a broken rule of AXI4 at memory port 0");
        assert_eq!(expected("reset@ap_rst_n:1", Depth::Device), Expected::Cleared);
    }
}
