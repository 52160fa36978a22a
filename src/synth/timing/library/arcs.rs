//! Contribution of a cell to the timing graph: arcs, starts and ends of paths; and the delay of a net between
//! two kinds of pins.

use crate::synth::netlist::modules::Cell;
use crate::synth::timing::library::delays as d;

/// Kind of an input pin: it decides what a net costs that drives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::synth::timing) enum Pin {
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
pub(in crate::synth::timing) enum Driver {
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
pub(in crate::synth::timing) struct Arc {
    pub(in crate::synth::timing) input: u32,
    pub(in crate::synth::timing) output: u32,
    pub(in crate::synth::timing) ns: f64,
    pub(in crate::synth::timing) pin: Pin,
    /// Levels of logic: 1 for LUTs and reads of LUT memories.
    pub(in crate::synth::timing) levels: u32,
    /// Place of the steps of an arc that is itself a path, through a part.
    pub(in crate::synth::timing) inside: Option<usize>,
}

/// The start of paths: an output that follows a clock.
#[derive(Debug, Clone)]
pub(in crate::synth::timing) struct Start {
    pub(in crate::synth::timing) output: u32,
    pub(in crate::synth::timing) clock: u32,
    pub(in crate::synth::timing) ns: f64,
    pub(in crate::synth::timing) levels: u32,
    pub(in crate::synth::timing) inside: Option<usize>,
}

/// The end of paths: an input that a clock samples.
#[derive(Debug, Clone)]
pub(in crate::synth::timing) struct End {
    pub(in crate::synth::timing) input: u32,
    pub(in crate::synth::timing) clock: u32,
    pub(in crate::synth::timing) ns: f64,
    pub(in crate::synth::timing) pin: Pin,
    pub(in crate::synth::timing) levels: u32,
    /// Name of the pin.
    pub(in crate::synth::timing) name: String,
    pub(in crate::synth::timing) inside: Option<usize>,
}

/// A path that stays within one cell, such as one between two registers of a DSP.
#[derive(Debug, Clone)]
pub(in crate::synth::timing) struct Within {
    pub(in crate::synth::timing) clock: u32,
    pub(in crate::synth::timing) ns: f64,
    pub(in crate::synth::timing) what: &'static str,
}

/// Timing of one cell.
#[derive(Debug, Clone, Default)]
pub(in crate::synth::timing) struct Timing {
    pub(in crate::synth::timing) arcs: Vec<Arc>,
    pub(in crate::synth::timing) starts: Vec<Start>,
    pub(in crate::synth::timing) ends: Vec<End>,
    pub(in crate::synth::timing) within: Option<Within>,
    /// Pins that nets drive here, where that is not one for each bit of an input.
    pub(in crate::synth::timing) loads: Option<Vec<(u32, u32)>>,
}

impl Timing {
    pub(in crate::synth::timing) fn arc(&mut self, input: u32, output: u32, ns: f64, pin: Pin, levels: u32) {
        self.arcs.push(Arc { input, output, ns, pin, levels, inside: None });
    }

    /// Arcs from each bit of a pin to each bit of another.
    pub(in crate::synth::timing) fn arcs(
        &mut self,
        cell: &Cell,
        from: &str,
        to: &str,
        ns: f64,
        pin: Pin,
        levels: u32,
    ) {
        for input in cell.nets(from) {
            cell.nets(to).for_each(|output| self.arc(input, output, ns, pin, levels));
        }
    }

    /// Starts at all bits of a pin; none where the clock is a constant.
    pub(in crate::synth::timing) fn start(&mut self, cell: &Cell, clock: &str, to: &str, ns: f64) {
        let Some(clock) = cell.nets(clock).next() else { return };
        let start = |output| Start { output, clock, ns, levels: 0, inside: None };
        self.starts.extend(cell.nets(to).map(start));
    }

    /// Ends at all bits of a pin.
    pub(in crate::synth::timing) fn end(&mut self, cell: &Cell, clock: &str, from: &str, ns: f64, pin: Pin) {
        let Some(clock) = cell.nets(clock).next() else { return };
        let end = |input| End { input, clock, ns, pin, levels: 0, name: from.to_owned(), inside: None };
        self.ends.extend(cell.nets(from).map(end));
    }
}

/// Delay of a net from a driver with this fan-out to one of its pins.
pub(in crate::synth::timing) fn net_ns(driver: Driver, fanout: u32, pin: Pin) -> f64 {
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
