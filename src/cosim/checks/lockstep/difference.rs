//! The first difference between model and Verilog, as a message.

use crate::cosim::dut::cycles_near;
use crate::design::{Mesh, NodeId, Port};
use std::ops::Range;
use thiserror::Error;

/// Names of a port's counters.
pub(super) const COUNTERS: [&str; 5] = [
    "counter of PART",
    "counter of KV_FETCH",
    "counter of KV_DATA",
    "counter of blocked cycles",
    "counter of idle cycles",
];

/// A difference between model and Verilog.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cycle {cycle}: {}{field}: the Verilog has {rtl}, the model {model}", self.place())]
pub struct Difference {
    /// Resets before the run with the difference.
    pub run: u32,
    /// Period of the difference, or after which it was found.
    pub cycle: u64,
    /// Router as (x, y) and its port, unless the difference is in the whole fabric.
    pub router: Option<((u32, u32), Port)>,
    /// Name of the value that differs.
    pub field: String,
    /// Value in the Verilog.
    pub rtl: String,
    /// Value in the model.
    pub model: String,
}

/// Place of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A field on a port of a router.
    Link(NodeId, Port, &'static str),
    /// A virtual channel of an input.
    Buffer(NodeId, Port, u32),
    /// A value of the whole fabric.
    Fabric(&'static str),
}

impl Difference {
    pub(super) fn new(
        mesh: Mesh,
        run: u32,
        cycle: u64,
        place: Place,
        rtl: String,
        model: String,
    ) -> Difference {
        let (router, field) = match place {
            Place::Link(node, port, field) => (Some((mesh.coords(node), port)), field.to_owned()),
            Place::Buffer(node, port, vc) => (Some((mesh.coords(node), port)), format!("buffer of VC {vc}")),
            Place::Fabric(what) => (None, what.to_owned()),
        };
        Difference { run, cycle, router, field, rtl, model }
    }

    /// Cycles for waves: from shortly before the difference to shortly after.
    pub fn wave_cycles(&self) -> Range<u64> {
        cycles_near(self.cycle)
    }

    fn place(&self) -> String {
        match self.router {
            Some(((x, y), port)) => format!("router ({x}, {y}), port {}, ", port.name()),
            None => String::new(),
        }
    }
}

/// Words as one hexadecimal number, the highest first.
pub(super) fn field(words: &[u32]) -> String {
    let digits: String = words.iter().rev().map(|word| format!("{word:08x}")).collect();
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => format!("0x{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::design::Design;

    #[test]
    fn a_difference_names_cycle_router_port_field_and_both_values() {
        let mesh = Design::from_config("test", &Config::default()).unwrap().mesh;
        let place = Place::Link(mesh.node(3, 1).unwrap(), Port::West, "head");
        let found = Difference::new(mesh, 0, 17, place, field(&[0x1f, 0x2]), field(&[0]));
        assert_eq!(
            found.to_string(),
            "cycle 17: router (3, 1), port west, head: the Verilog has 0x20000001f, the model 0"
        );
    }
}
