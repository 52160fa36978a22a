//! Tests of the analysis on small netlists that are written by hand, and what writes them.

use super::PartTiming;
use crate::synth::netlist::flat::Netlist;
use crate::synth::netlist::modules::{Bit, Cell, Port};
use crate::synth::timing::library::delays as d;
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A netlist, as Yosys would write it in JSON.
pub(super) fn by_hand(module: &Value) -> Netlist {
    let net = |bit: &Value| bit.as_u64().map(|net| net as u32);
    let bit = |bit: &Value| net(bit).map_or(Bit::Constant('0'), Bit::Net);
    let port = |name: &str, bits: &Value, direction: &Value| {
        let bits = bits.as_array().unwrap().iter().map(bit).collect();
        Port { name: name.to_owned(), output: direction == "output", bits }
    };
    let cell = |(name, cell): (&String, &Value)| Cell {
        kind: cell["type"].as_str().unwrap().to_owned(),
        name: name.clone(),
        path: None,
        parameters: all(&cell["parameters"]).map(|(name, word)| (name.clone(), word.to_string())).collect(),
        ports: all(&cell["connections"])
            .map(|(pin, bits)| port(pin, bits, &cell["port_directions"][pin]))
            .collect(),
    };
    Netlist {
        cells: all(&module["cells"]).map(cell).collect(),
        ports: all(&module["ports"]).map(|(name, of)| port(name, &of["bits"], &of["direction"])).collect(),
        names: all(&module["netnames"])
            .map(|(name, of)| (net(&of["bits"][0]).unwrap(), name.clone()))
            .collect(),
    }
}

/// Entries of an object; none where there is no object.
fn all(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

/// A cell whose output pins are in `outputs`.
pub(super) fn cell(kind: &str, outputs: &[&str], connections: Value) -> Value {
    let pins = connections.as_object().unwrap().keys();
    let direction = |pin: &String| if outputs.contains(&pin.as_str()) { "output" } else { "input" };
    let directions: BTreeMap<_, _> = pins.map(|pin| (pin.clone(), direction(pin))).collect();
    json!({ "type": kind, "port_directions": directions, "connections": connections })
}

pub(super) fn register(clock: u32, input: u32, output: u32) -> Value {
    cell("FDRE", &["Q"], json!({ "C": [clock], "D": [input], "Q": [output] }))
}

pub(super) fn lut(inputs: &[u32], output: u32) -> Value {
    let mut connections: BTreeMap<_, _> =
        inputs.iter().enumerate().map(|(place, net)| (format!("I{place}"), json!([net]))).collect();
    connections.insert("O".to_owned(), json!([output]));
    cell(&format!("LUT{}", inputs.len()), &["O"], json!(connections))
}

/// Ports of one bit each.
pub(super) fn ports(inputs: &[(&str, u32)], outputs: &[(&str, u32)]) -> Value {
    let port = |direction: &'static str| {
        move |(name, net): &(&str, u32)| {
            ((*name).to_owned(), json!({ "direction": direction, "bits": [net] }))
        }
    };
    let all = inputs.iter().map(port("input")).chain(outputs.iter().map(port("output")));
    json!(all.collect::<BTreeMap<_, _>>())
}

fn timed(module: &Value) -> PartTiming {
    PartTiming::of(&by_hand(module)).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

const CLOCK: (&str, u32) = ("clk", 2);

#[test]
fn a_path_through_a_lut_memory_goes_from_address_to_data() {
    let memory = json!({
        "ADDRA": [11, "0", "0", "0", "0"], "ADDRB": [12, "0", "0", "0", "0"], "ADDRH": [13, "0", "0", "0", "0"],
        "DOA": [20, 21], "DIA": [14, 14], "WCLK": [2], "WE": [15],
    });
    let timing = timed(&json!({
        "ports": ports(&[CLOCK], &[]),
        "cells": {
            "$a": register(2, 30, 11),
            "u_buffer.mem.0.0": cell("RAM32M16", &["DOA"], memory),
            "$q": register(2, 20, 31),
        },
        "netnames": { "head_q": { "bits": [11] }, "flit_q": { "bits": [31] } },
    }));
    let clk = &timing.clocks["clk"];
    let path = clk.paths.iter().find(|path| path.from == "head_q").unwrap();
    assert_eq!((path.to.as_str(), path.levels, path.steps.len()), ("flit_q/D", 1, 3));
    assert_eq!(path.steps[1].cell, "RAM32M16");
    assert!(near(path.ns, d::FF_CLOCK + d::net(1) + d::LUT_RAM_READ + d::net(1) + d::FF_DATA));
    assert!(timing.boundary.paths.is_empty());
}

#[test]
fn the_write_side_of_a_memory_ends_paths() {
    let memory = json!({ "ADDRH": [11], "DIA": [12], "WE": [13], "DOA": [20], "ADDRA": ["0"], "WCLK": [2] });
    let timing = timed(&json!({
        "ports": ports(&[CLOCK], &[]),
        "cells": {
            "$a": register(2, 30, 11), "$b": register(2, 31, 12), "$c": register(2, 32, 13),
            "u.mem": cell("RAM64M8", &["DOA"], memory), "$q": register(2, 20, 33),
        },
        "netnames": { "flit_q": { "bits": [33] } },
    }));
    let paths = &timing.clocks["clk"].paths;
    // What was written comes out after the clock.
    let read = paths.iter().find(|path| path.from == "u.mem").unwrap();
    assert!(read.to == "flit_q/D" && near(read.ns, d::LUT_RAM_CLOCK + d::net(1) + d::FF_DATA));
    let ends = paths.iter().map(|path| path.to.clone()).filter(|end| end != "flit_q/D");
    let ends: BTreeSet<_> = ends.collect();
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), ["u.mem/ADDRH", "u.mem/DIA", "u.mem/WE"]);
}

#[test]
fn a_carry_chain_has_nets_of_its_own() {
    let low = json!({ "CI": ["0"], "CYINIT": ["0"], "S": [12, "1", "1", "1"], "DI": ["0", "0", "0", "0"],
        "CO": [20, 21, 22, 23], "O": [24, 25, 26, 27] });
    let high = json!({ "CI": [23], "CYINIT": ["0"], "S": ["1", "1", "1", "1"], "DI": ["0", "0", "0", "0"],
        "CO": [40, 41, 42, 43], "O": [44, 45, 46, 47] });
    let timing = timed(&json!({
        "ports": ports(&[CLOCK], &[]),
        "cells": {
            "$a": register(2, 30, 11), "$l": lut(&[11], 12),
            "$low": cell("CARRY4", &["CO", "O"], low), "$high": cell("CARRY4", &["CO", "O"], high),
            "$q": register(2, 47, 31),
        },
    }));
    let path = &timing.clocks["clk"].paths[0];
    let nets = d::net(1) + d::NET_TO_CARRY + d::CARRY_CHAIN + d::NET_LUT_TO_FF;
    let cells = d::FF_CLOCK + d::LUT + d::CARRY_S_CO[3] + d::CARRY_CI_O[3] + d::FF_DATA;
    assert!(near(path.ns, nets + cells), "{path:?}");
    assert_eq!(path.levels, 1);
}

#[test]
fn a_dsp_without_registers_passes_data_and_with_them_ends_it() {
    let dsp = |registers: &[&str]| {
        let mut dsp = cell("DSP48E2", &["P"], json!({ "CLK": [2], "A": [11], "B": ["0"], "P": [20] }));
        dsp["parameters"] = json!({ "USE_MULT": "MULTIPLY", "AMULTSEL": "A" });
        registers.iter().for_each(|register| dsp["parameters"][register] = json!("1"));
        timed(&json!({
            "ports": ports(&[CLOCK], &[]),
            "cells": { "$a": register(2, 30, 11), "u_dsp": dsp, "$q": register(2, 20, 31) },
            "netnames": { "a_q": { "bits": [11] }, "p_q": { "bits": [31] } },
        }))
    };
    let ns = |timing: &PartTiming, from: &str, to: &str| {
        let mut paths = timing.clocks["clk"].paths.iter();
        paths.find(|path| path.from == from && path.to == to).map(|path| path.ns)
    };
    let around = |ns: f64| d::FF_CLOCK + d::net(1) + ns;
    let through = dsp(&[]);
    assert!(near(ns(&through, "a_q", "p_q/D").unwrap(), around(d::DSP_THROUGH + d::net(1) + d::FF_DATA)));
    // With MREG the multiplier is before the register, without it the arithmetic unit as well.
    let (late, early) = (dsp(&["PREG"]), dsp(&["MREG", "PREG"]));
    let ends = |stages: f64| around(d::DSP_INPUT + stages);
    assert!(near(ns(&late, "a_q", "u_dsp/A").unwrap(), ends(d::DSP_MULTIPLY + d::DSP_ALU)));
    assert!(near(ns(&early, "a_q", "u_dsp/A").unwrap(), ends(d::DSP_MULTIPLY)));
    assert_eq!(ns(&early, "a_q", "p_q/D"), None);
    let all = dsp(&["AREG", "MREG", "PREG"]);
    assert!(near(ns(&all, "a_q", "u_dsp/A").unwrap(), ends(0.0)));
    assert!(near(ns(&all, "u_dsp", "u_dsp").unwrap(), d::DSP_PERIOD));
    assert!(near(ns(&all, "u_dsp", "p_q/D").unwrap(), d::DSP_CLOCK_P + d::net(1) + d::FF_DATA));
    assert!(near(ns(&dsp(&["AREG", "PREG"]), "u_dsp", "u_dsp").unwrap(), d::DSP_PERIOD_NO_MREG));
}

#[test]
fn a_path_between_two_clocks_is_not_timed() {
    let module = |other: u32| {
        json!({
            "ports": ports(&[CLOCK, ("pe_clk", 3)], &[]),
            "cells": {
                "$a": register(2, 30, 11), "$l": lut(&[11], 12), "$q": register(other, 12, 31),
                "$b": register(3, 31, 32),
            },
        })
    };
    let crossing = timed(&module(3));
    assert!(crossing.clocks["clk"].paths.is_empty() && crossing.clocks["pe_clk"].paths.len() == 1);
    assert_eq!(timed(&module(2)).clocks["clk"].paths.len(), 1);
}

#[test]
fn a_clock_is_named_by_its_port_behind_a_buffer() {
    let buffer = cell("BUFG", &["O"], json!({ "I": [2], "O": [5] }));
    let cells = json!({ "$b": buffer, "$a": register(5, 30, 11), "$q": register(2, 11, 31) });
    let timing = timed(&json!({ "ports": ports(&[CLOCK], &[]), "cells": cells }));
    assert_eq!(timing.clocks.keys().collect::<Vec<_>>(), ["clk"]);
    assert_eq!(timing.clocks["clk"].paths.len(), 1);
}

#[test]
fn a_combinational_loop_is_an_error_with_a_name() {
    let module = json!({
        "cells": { "$l": lut(&[11, 13], 12), "$m": lut(&[12], 13), "$q": register(2, 13, 31) },
        "netnames": { "u_x.grant": { "bits": [13] } },
    });
    let error = PartTiming::of(&by_hand(&module)).unwrap_err().to_string();
    assert!(error.contains("combinational loop") && error.contains("u_x.grant"), "{error}");
}

#[test]
fn a_net_with_more_pins_takes_longer_and_an_inverter_is_absorbed() {
    let inverter = cell("INV", &["O"], json!({ "I": [11], "O": [13] }));
    let timing = timed(&json!({
        "ports": ports(&[CLOCK], &[]),
        "cells": {
            "$a": register(2, 30, 11), "$i": inverter, "$l": lut(&[13], 12), "$q": register(2, 12, 31),
            "$m": lut(&[11], 14), "$n": lut(&[11], 15), "$o": lut(&[11], 16), "$r": register(2, 16, 32),
        },
        "netnames": { "p_q": { "bits": [31] }, "r_q": { "bits": [32] } },
    }));
    let to = |end: &str| timing.clocks["clk"].paths.iter().find(|path| path.to == end).unwrap().ns;
    let rest = d::FF_CLOCK + d::LUT + d::NET_LUT_TO_FF + d::FF_DATA;
    assert!(near(to("r_q/D"), rest + d::net(4)) && near(to("p_q/D"), rest + d::net(1)));
}

#[test]
fn paths_of_ports_are_kept_apart() {
    let timing = timed(&json!({
        "ports": ports(&[CLOCK, ("s_valid", 11)], &[("m_valid", 31)]),
        "cells": { "$l": lut(&[11], 12), "$q": register(2, 12, 31) },
        "netnames": { "s_valid": { "bits": [11] }, "m_valid": { "bits": [31] } },
    }));
    assert!(timing.clocks["clk"].paths.is_empty());
    let ends: Vec<_> =
        timing.boundary.paths.iter().map(|path| (path.from.as_str(), path.to.as_str())).collect();
    assert_eq!(ends, [("port s_valid", "m_valid/D"), ("m_valid", "port m_valid")]);
    assert!(timing.worst_ns() > 0.0 && timing.worst_levels() == 1);
}
