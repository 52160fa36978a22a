//! What a cell contributes to the timing graph: arcs, starts and ends of paths; and what a net costs between
//! two kinds of pins.

use super::delays as d;
use crate::synth::netlist::Cell;

/// Kind of an input pin: it decides what a net costs that drives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pin {
    /// A pin of the fabric.
    Fabric,
    /// Data of a register: a LUT of the same slice may drive it.
    Register,
    /// Data of a wide multiplexer: only a LUT or multiplexer of the same slice drives it.
    Mux,
    /// S of a carry: only a LUT of the same slice drives it.
    CarrySelect,
    /// CI of a carry.
    CarryIn,
    /// An inverter, which the cell behind absorbs.
    Absorbed,
}

/// Kind of an output pin, for the same decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Driver {
    /// A LUT.
    Lut,
    /// A wide multiplexer.
    Mux,
    /// A sum or carry; true for the carry of the last place, which has a way of its own to the next cell.
    Carry(bool),
    /// Anything else.
    Other,
}

/// A way from an input to an output within a cycle.
#[derive(Debug, Clone)]
pub(super) struct Arc {
    pub(super) input: u32,
    pub(super) output: u32,
    pub(super) ns: f64,
    pub(super) pin: Pin,
    /// Levels of logic: 1 for LUTs and reads of LUT memories.
    pub(super) levels: u32,
    /// Place of the steps of an arc that is itself a path, through a part.
    pub(super) inside: Option<usize>,
}

/// The start of paths: an output that follows a clock.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) output: u32,
    pub(super) clock: u32,
    pub(super) ns: f64,
    pub(super) levels: u32,
    pub(super) inside: Option<usize>,
}

/// The end of paths: an input that a clock samples.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) input: u32,
    pub(super) clock: u32,
    pub(super) ns: f64,
    pub(super) pin: Pin,
    pub(super) levels: u32,
    /// Name of the pin.
    pub(super) name: String,
    pub(super) inside: Option<usize>,
}

/// A path that stays within one cell, such as one between two registers of a DSP.
#[derive(Debug, Clone)]
pub(super) struct Within {
    pub(super) clock: u32,
    pub(super) ns: f64,
    pub(super) what: &'static str,
}

/// Timing of one cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Timing {
    pub(super) arcs: Vec<Arc>,
    pub(super) starts: Vec<Start>,
    pub(super) ends: Vec<End>,
    pub(super) within: Option<Within>,
    /// Pins that nets drive here, where that is not one for each bit of an input.
    pub(super) loads: Option<Vec<(u32, u32)>>,
}

impl Timing {
    pub(super) fn arc(&mut self, input: u32, output: u32, ns: f64, pin: Pin, levels: u32) {
        self.arcs.push(Arc { input, output, ns, pin, levels, inside: None });
    }

    /// Arcs from each bit of a pin to each bit of another.
    pub(super) fn arcs(&mut self, cell: &Cell, from: &str, to: &str, ns: f64, pin: Pin, levels: u32) {
        for input in cell.nets(from) {
            cell.nets(to).for_each(|output| self.arc(input, output, ns, pin, levels));
        }
    }

    /// Starts at all bits of a pin; none where the clock is a constant.
    pub(super) fn start(&mut self, cell: &Cell, clock: &str, to: &str, ns: f64) {
        let Some(clock) = cell.nets(clock).next() else { return };
        let start = |output| Start { output, clock, ns, levels: 0, inside: None };
        self.starts.extend(cell.nets(to).map(start));
    }

    /// Ends at all bits of a pin.
    pub(super) fn end(&mut self, cell: &Cell, clock: &str, from: &str, ns: f64, pin: Pin) {
        let Some(clock) = cell.nets(clock).next() else { return };
        let end = |input| End { input, clock, ns, pin, levels: 0, name: from.to_owned(), inside: None };
        self.ends.extend(cell.nets(from).map(end));
    }
}

/// Delay of a net from a driver with this fan-out to one of its pins.
pub(super) fn net_ns(driver: Driver, fanout: u32, pin: Pin) -> f64 {
    let way_out = match driver {
        Driver::Mux => d::MUX_OUT,
        Driver::Carry(_) => d::CARRY_OUT,
        Driver::Lut | Driver::Other => 0.0,
    };
    let fabric = way_out + d::net(fanout);
    match (pin, driver) {
        (Pin::Absorbed, _) => 0.0,
        (Pin::Mux, Driver::Lut | Driver::Mux) => d::NET_TO_MUX,
        (Pin::CarrySelect, Driver::Lut) => d::NET_TO_CARRY,
        (Pin::CarryIn, Driver::Carry(true)) => d::CARRY_CHAIN,
        (Pin::CarryIn, _) => fabric + d::CARRY_INIT,
        // A LUT that passes the net on.
        (Pin::Mux, _) => fabric + d::LUT + d::NET_TO_MUX,
        (Pin::CarrySelect, _) => fabric + d::LUT + d::NET_TO_CARRY,
        (Pin::Register, Driver::Lut | Driver::Mux | Driver::Carry(_)) if fanout == 1 => d::NET_LUT_TO_FF,
        (Pin::Fabric | Pin::Register, _) => fabric,
    }
}
