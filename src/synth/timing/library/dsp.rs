//! Timing of a DSP48E2 by its pipeline registers.
//!
//! Data passes up to three stages: pre-adder, multiplier, arithmetic unit. An attribute says of each place
//! between them whether a register is there; where it is not, the path goes on.

use crate::synth::netlist::modules::Cell;
use crate::synth::timing::library::arcs::{Pin, Timing, Within};
use crate::synth::timing::library::delays as d;

/// Clock to the output of a register before the arithmetic unit and on to P, without the stages between.
const AROUND: f64 = d::DSP_CLOCK_THROUGH - d::DSP_MULTIPLY - d::DSP_ALU;

/// Registers of a slice.
struct Registers {
    /// Before the pre-adder, and for the attribute of each input.
    adreg: bool,
    mreg: bool,
    preg: bool,
    /// The multiplier is used.
    multiplies: bool,
    /// The pre-adder feeds it.
    preadds: bool,
}

/// A group of inputs: its register's attribute, and the first stage that it enters.
fn register_of(pin: &str) -> Option<(&'static str, Stage)> {
    Some(match pin {
        "A" | "ACIN" => ("AREG", Stage::PreAdd),
        "D" => ("DREG", Stage::PreAdd),
        "B" | "BCIN" => ("BREG", Stage::Multiply),
        "INMODE" => ("INMODEREG", Stage::PreAdd),
        "C" => ("CREG", Stage::Add),
        "OPMODE" => ("OPMODEREG", Stage::Add),
        "ALUMODE" => ("ALUMODEREG", Stage::Add),
        "CARRYIN" => ("CARRYINREG", Stage::Add),
        "CARRYINSEL" => ("CARRYINSELREG", Stage::Add),
        "PCIN" | "CARRYCASCIN" | "MULTSIGNIN" => ("", Stage::Add),
        _ => return None,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    PreAdd,
    Multiply,
    Add,
}

impl Registers {
    fn of(cell: &Cell) -> Registers {
        let has = |register| cell.number(register) != 0;
        let multiplies = cell.word("USE_MULT") != "NONE";
        let preadds = multiplies && [cell.word("AMULTSEL"), cell.word("BMULTSEL")].contains(&"AD");
        Registers { adreg: has("ADREG"), mreg: has("MREG"), preg: has("PREG"), multiplies, preadds }
    }

    /// Delay from the entry of a stage to the next register, and true if there is one before P.
    fn onward(&self, stage: Stage) -> (f64, bool) {
        let mut ns = 0.0;
        if stage == Stage::PreAdd && self.preadds {
            ns += d::DSP_PREADD;
            if self.adreg {
                return (ns, true);
            }
        }
        if stage != Stage::Add && self.multiplies {
            ns += d::DSP_MULTIPLY;
            if self.mreg {
                return (ns, true);
            }
        }
        (ns + d::DSP_ALU, self.preg)
    }

    /// Clock to P from the last register before it.
    fn to_output(&self) -> f64 {
        if self.preg {
            return d::DSP_CLOCK_P;
        }
        let multiply = if self.multiplies && !self.mreg { d::DSP_MULTIPLY } else { 0.0 };
        let preadd = if multiply > 0.0 && self.preadds && !self.adreg { d::DSP_PREADD } else { 0.0 };
        AROUND + preadd + multiply + d::DSP_ALU
    }

    /// The least period of paths between registers of the slice.
    fn period(&self) -> f64 {
        match (self.multiplies && !self.mreg, self.preadds && !self.adreg) {
            _ if !self.multiplies => d::DSP_PERIOD,
            (false, false) => d::DSP_PERIOD,
            (false, true) => d::DSP_PERIOD_NO_ADREG,
            (true, false) => d::DSP_PERIOD_NO_MREG,
            (true, true) => d::DSP_PERIOD_NO_PIPELINE,
        }
    }
}

/// Adds arcs, starts and ends of a slice.
pub(in crate::synth::timing) fn dsp(timing: &mut Timing, cell: &Cell) {
    let registers = Registers::of(cell);
    let outputs: Vec<_> = cell.outputs().map(|pin| pin.name.as_str()).collect();
    let later = registers.preg || registers.mreg;
    let mut sooner = registers.adreg && registers.preadds;
    for pin in cell.inputs().map(|pin| pin.name.as_str()).filter(|pin| *pin != "CLK") {
        let Some((register, stage)) = register_of(pin) else {
            let ns = if pin.starts_with("CE") { d::DSP_ENABLE } else { d::DSP_INPUT };
            timing.end(cell, "CLK", pin, ns, Pin::Fabric);
            continue;
        };
        if cell.number(register) != 0 {
            sooner = true;
            timing.end(cell, "CLK", pin, d::DSP_INPUT, Pin::Fabric);
            continue;
        }
        let (ns, ends) = registers.onward(stage);
        if ends {
            timing.end(cell, "CLK", pin, d::DSP_INPUT + ns, Pin::Fabric);
        } else {
            let around = d::DSP_THROUGH - d::DSP_MULTIPLY - d::DSP_ALU;
            outputs.iter().for_each(|to| timing.arcs(cell, pin, to, around + ns, Pin::Fabric, 0));
        }
    }
    if sooner || later {
        outputs.iter().for_each(|to| timing.start(cell, "CLK", to, registers.to_output()));
    }
    if sooner && later {
        let within = |clock| Within { clock, ns: registers.period(), what: "registers within a DSP48E2" };
        timing.within = cell.nets("CLK").next().map(within);
    }
}
