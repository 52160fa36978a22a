//! Timing of each cell of the library: arcs from input to output, starts of paths at outputs, ends at inputs.

use crate::synth::netlist::modules::Cell;
use crate::synth::timing::library::arcs::{Driver, Pin, Timing};
use crate::synth::timing::library::delays as d;
use crate::synth::timing::library::dsp;
use anyhow::{bail, Result};

/// Pins that take a clock: they are no load of a net of the fabric.
pub(in crate::synth::timing) const CLOCK_PINS: [&str; 5] = ["C", "CLK", "WCLK", "CLKARDCLK", "CLKBWRCLK"];

/// Kind of a cell's output pin.
pub(in crate::synth::timing) fn driver(cell: &Cell, pin: &str, place: usize) -> Driver {
    match cell.kind.as_str() {
        kind if kind.starts_with("LUT") => Driver::Lut,
        "MUXF7" | "MUXF8" | "MUXF9" => Driver::Mux,
        "CARRY4" => Driver::Carry(pin == "CO" && place == 3),
        "CARRY8" => Driver::Carry(pin == "CO" && place == 7),
        _ => Driver::Other,
    }
}

/// Timing of a cell.
///
/// # Errors
/// When nobody has said how it is timed.
pub(in crate::synth::timing) fn timing(cell: &Cell) -> Result<Timing> {
    let mut timing = Timing::default();
    match cell.kind.as_str() {
        "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" => {
            every(&mut timing, cell, d::LUT, Pin::Fabric, 1)
        }
        "INV" => every(&mut timing, cell, 0.0, Pin::Absorbed, 0),
        "MUXF7" | "MUXF8" | "MUXF9" => {
            for data in ["I0", "I1"] {
                timing.arcs(cell, data, "O", d::MUX, Pin::Mux, 0);
            }
            timing.arcs(cell, "S", "O", d::MUX, Pin::Fabric, 0);
        }
        "CARRY4" => carry(&mut timing, cell, 4),
        "CARRY8" => carry(&mut timing, cell, 8),
        "FDRE" | "FDSE" | "FDCE" | "FDPE" => {
            timing.start(cell, "C", "Q", d::FF_CLOCK);
            timing.end(cell, "C", "D", d::FF_DATA, Pin::Register);
            timing.end(cell, "C", "CE", d::FF_ENABLE, Pin::Fabric);
            for reset in ["R", "S", "CLR", "PRE"] {
                timing.end(cell, "C", reset, d::FF_RESET, Pin::Fabric);
            }
        }
        "RAM32M16" | "RAM64M8" | "RAM32X16DR8" | "RAM64X8SW" => wide_memory(&mut timing, cell),
        "RAM32X1D" | "RAM64X1D" | "RAM128X1D" | "RAM256X1D" => narrow_memory(&mut timing, cell),
        "SRL16E" | "SRLC32E" => shift_register(&mut timing, cell),
        "RAMB36E2" | "RAMB18E2" => block_ram(&mut timing, cell),
        "URAM288" => ultra_ram(&mut timing, cell),
        "DSP48E2" => dsp::dsp(&mut timing, cell),
        // A clock passes it; `Graph` follows it.
        "BUFG" => {}
        other => bail!("{other} is a cell that nobody has decided how to time"),
    }
    Ok(timing)
}

/// Arcs from each input to each output.
fn every(timing: &mut Timing, cell: &Cell, ns: f64, pin: Pin, levels: u32) {
    for from in cell.inputs() {
        for to in cell.outputs() {
            timing.arcs(cell, &from.name, &to.name, ns, pin, levels);
        }
    }
}

fn carry(timing: &mut Timing, cell: &Cell, places: usize) {
    let mut arc = |from: (&str, usize), to: (&str, usize), ns, pin| {
        if let (Some(input), Some(output)) = (cell.net(from.0, from.1), cell.net(to.0, to.1)) {
            timing.arc(input, output, ns, pin, 0);
        }
    };
    for to in 0..places {
        for from in 0..=to {
            arc(("S", from), ("O", to), d::CARRY_S_O[to - from], Pin::CarrySelect);
            arc(("S", from), ("CO", to), d::CARRY_S_CO[to - from], Pin::CarrySelect);
            if from < to {
                arc(("DI", from), ("O", to), d::CARRY_DI_O[to - from], Pin::Fabric);
            }
            arc(("DI", from), ("CO", to), d::CARRY_DI_CO[to - from], Pin::Fabric);
        }
        let through = if places == 4 && to == 3 { d::CARRY4_THROUGH } else { d::CARRY_CI_CO[to] };
        for (input, place) in [("CI", 0), ("CYINIT", 0), ("CI_TOP", 0)] {
            arc((input, place), ("O", to), d::CARRY_CI_O[to], Pin::CarryIn);
            arc((input, place), ("CO", to), through, Pin::CarryIn);
        }
    }
}

/// LUT memories of a whole slice: the address of each letter reads the data of that letter, and that of the
/// last LUT writes.
fn wide_memory(timing: &mut Timing, cell: &Cell) {
    let outputs: Vec<_> = cell.outputs().map(|pin| pin.name.as_str()).collect();
    for pin in cell.inputs().map(|pin| pin.name.as_str()) {
        let (stem, letter) = pin.split_at(pin.len() - usize::from(pin.len() > 1));
        match stem {
            _ if pin == "WCLK" => {}
            "ADDR" if letter != "H" => {
                timing.arcs(cell, pin, &format!("DO{letter}"), d::LUT_RAM_READ, Pin::Fabric, 1);
            }
            "ADDR" => timing.end(cell, "WCLK", pin, d::LUT_RAM_ADDRESS, Pin::Fabric),
            "DI" => timing.end(cell, "WCLK", pin, d::LUT_RAM_DATA, Pin::Fabric),
            _ => timing.end(cell, "WCLK", pin, d::LUT_RAM_ENABLE, Pin::Fabric),
        }
    }
    outputs.iter().for_each(|output| timing.start(cell, "WCLK", output, d::LUT_RAM_CLOCK));
}

/// LUT memories of one bit with two ports: DPRA reads, A reads and writes.
fn narrow_memory(timing: &mut Timing, cell: &Cell) {
    for pin in cell.inputs().map(|pin| pin.name.as_str()) {
        match pin {
            "WCLK" => {}
            "D" => timing.end(cell, "WCLK", pin, d::LUT_RAM_DATA, Pin::Fabric),
            "WE" => timing.end(cell, "WCLK", pin, d::LUT_RAM_ENABLE, Pin::Fabric),
            pin if pin.starts_with("DPRA") => {
                timing.arcs(cell, pin, "DPO", d::LUT_RAM_READ, Pin::Fabric, 1);
            }
            _ => {
                timing.arcs(cell, pin, "SPO", d::LUT_RAM_READ, Pin::Fabric, 1);
                timing.end(cell, "WCLK", pin, d::LUT_RAM_ADDRESS, Pin::Fabric);
            }
        }
    }
    for output in ["SPO", "DPO"] {
        timing.start(cell, "WCLK", output, d::LUT_RAM_CLOCK);
    }
}

fn shift_register(timing: &mut Timing, cell: &Cell) {
    for pin in cell.inputs().map(|pin| pin.name.as_str()) {
        match pin {
            "CLK" => {}
            "D" => timing.end(cell, "CLK", pin, d::LUT_RAM_DATA, Pin::Fabric),
            "CE" => timing.end(cell, "CLK", pin, d::LUT_RAM_ENABLE, Pin::Fabric),
            address => timing.arcs(cell, address, "Q", d::LUT_RAM_READ, Pin::Fabric, 1),
        }
    }
    for output in ["Q", "Q31", "Q15"] {
        timing.start(cell, "CLK", output, d::LUT_RAM_CLOCK);
    }
}

fn block_ram(timing: &mut Timing, cell: &Cell) {
    const CLOCKS: [&str; 2] = ["CLKARDCLK", "CLKBWRCLK"];
    // With one read port of twice the width, port A clocks the outputs of B; likewise B the data inputs of A.
    let reads = if cell.number("READ_WIDTH_B") == 0 { [0, 0] } else { [0, 1] };
    let writes = if cell.number("WRITE_WIDTH_A") == 0 { [1, 1] } else { [0, 1] };
    let registered = ["DOA_REG", "DOB_REG"].map(|register| cell.number(register) != 0);
    for (pins, read) in [["DOUTADOUT", "DOUTPADOUTP"], ["DOUTBDOUT", "DOUTPBDOUTP"]].iter().zip(reads) {
        let ns = if registered[read] { d::BRAM_CLOCK_REGISTERED } else { d::BRAM_CLOCK };
        pins.iter().for_each(|pin| timing.start(cell, CLOCKS[read], pin, ns));
    }
    for (pins, write) in [["DINADIN", "DINPADINP"], ["DINBDIN", "DINPBDINP"]].iter().zip(writes) {
        pins.iter().for_each(|pin| timing.end(cell, CLOCKS[write], pin, d::BRAM_DATA, Pin::Fabric));
    }
    let controls = [
        (["ADDRARDADDR", "ADDRBWRADDR"], d::BRAM_ADDRESS),
        (["ENARDEN", "ENBWREN"], d::BRAM_ENABLE),
        (["ADDRENA", "ADDRENB"], d::BRAM_WRITE),
        (["WEA", "WEBWE"], d::BRAM_WRITE),
        (["RSTRAMARSTRAM", "RSTRAMB"], d::BRAM_ENABLE),
        (["REGCEAREGCE", "REGCEB"], d::BRAM_OUTPUT),
        (["RSTREGARSTREG", "RSTREGB"], d::BRAM_OUTPUT),
    ];
    for (pins, ns) in controls {
        pins.iter().zip(CLOCKS).for_each(|(pin, clock)| timing.end(cell, clock, pin, ns, Pin::Fabric));
    }
}

fn ultra_ram(timing: &mut Timing, cell: &Cell) {
    for (port, letter) in ["A", "B"].into_iter().enumerate() {
        let registered = cell.word(&format!("OREG_{letter}")) == "TRUE";
        let clocked = if registered { d::URAM_CLOCK_REGISTERED } else { d::URAM_CLOCK };
        timing.start(cell, "CLK", &format!("DOUT_{letter}"), clocked[port]);
    }
    for pin in cell.inputs().map(|pin| pin.name.as_str()).filter(|pin| *pin != "CLK") {
        let ns = match pin {
            "ADDR_A" | "ADDR_B" => d::URAM_ADDRESS,
            "DIN_A" | "DIN_B" => d::URAM_DATA,
            _ => d::URAM_CONTROL,
        };
        timing.end(cell, "CLK", pin, ns, Pin::Fabric);
    }
}
