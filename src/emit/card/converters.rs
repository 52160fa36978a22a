//! The converters to the ports of HBM: which of them are packaged, and their constraints.

use super::clock::{period, Clock};
use super::clock_crossings::Crossing;
use super::hierarchy::{kept, with, Kept, OF_FIFO};
use crate::design::{Design, HBM_MHZ};
use crate::emit::rtl::spec::module::ModuleSpec;
use serde::Serialize;
use tera::Context;

/// Templates of the constraints that every converter has.
pub(super) const CONSTRAINTS: [&str; 3] = ["clocks.xdc", "crossings.xdc", "hierarchy.xdc"];

/// A converter that is packaged as an IP.
#[derive(Debug, Clone, Serialize)]
pub struct Converter {
    /// Its module.
    pub module: &'static str,
    /// Sources of it and of all that it instantiates.
    pub sources: Vec<String>,
}

/// Modules of the converters, each with the instances of its reads and writes.
const ALL: [(&str, &[(&str, &str)]); 2] = [
    ("meshkv_axi3_read", &[("meshkv_axi3_read", "")]),
    ("meshkv_axi3_io", &[("meshkv_axi3_read", "u_read/"), ("meshkv_axi3_write", "u_write/")]),
];

/// The converters of a design: that of a memory port, and that of queries and outputs. None where a flit is narrower than a
/// beat of HBM.
pub fn converters(modules: &[ModuleSpec]) -> Vec<Converter> {
    let known = |name: &str| modules.iter().find(|m| m.name == name);
    let all = ALL.iter().filter_map(|(module, _)| known(module));
    let sources = |top: &ModuleSpec| {
        let mut names = vec![top.name];
        for at in 0.. {
            let Some(module) = names.get(at).map(|name| known(name).expect("a module of the design")) else {
                break;
            };
            let new: Vec<_> = module.instances.iter().copied().filter(|i| !names.contains(i)).collect();
            names.extend(new);
        }
        modules.iter().filter(|m| names.contains(&m.name)).map(ModuleSpec::path).collect()
    };
    all.map(|top| Converter { module: top.name, sources: sources(top) }).collect()
}

/// Values for the templates of the constraints of each converter, with its module.
pub(super) fn contexts(design: &Design, modules: &[ModuleSpec]) -> Vec<(&'static str, Context)> {
    let has = |name: &str| modules.iter().any(|m| m.name == name);
    let all = ALL.iter().filter(|(top, _)| has(top));
    all.map(|(top, parts)| (*top, context(design, modules, top, parts))).collect()
}

fn context(design: &Design, modules: &[ModuleSpec], top: &str, parts: &[(&str, &str)]) -> Context {
    let mut context = Context::new();
    let clocks = [
        Clock { name: "net", port: "aclk", period: period(design.clock.noc_mhz), doc: "the network's clock" },
        Clock { name: "hbm", port: "hbm_aclk", period: period(HBM_MHZ), doc: "that of HBM" },
    ];
    let mut fifos = Vec::new();
    let mut all: Vec<Kept> = Vec::new();
    for (module, path) in parts {
        let spec = modules.iter().find(|m| m.name == *module).expect("it was asked for");
        if !path.is_empty() {
            all.push(kept("Reads, or writes.", &[path.trim_end_matches('/').to_owned()], 1));
        }
        for fifo in fifos_of(spec) {
            let at = format!("{path}{}", fifo.name);
            all.push(kept(fifo.doc, &with(&at, &OF_FIFO), 1 + OF_FIFO.len() as u32));
            fifos.push(Crossing::one_fifo(fifo.doc, &at, fifo.clocks, fifo.depth, fifo.width));
        }
    }
    context.insert("top", top);
    context.insert("clocks", &clocks);
    context.insert("kept", &all);
    context.insert("fifos", &fifos);
    context.insert("registers", &[(); 0]);
    context.insert("bits", &[(); 0]);
    context
}

/// A FIFO between the clocks of a converter.
struct Fifo {
    name: &'static str,
    doc: &'static str,
    clocks: [&'static str; 2],
    depth: u32,
    width: u32,
}

/// Depth of the FIFOs of addresses and answers.
const SHALLOW: u32 = 16;

fn fifos_of(module: &ModuleSpec) -> Vec<Fifo> {
    let param = |name: &str| {
        let found = module.params.iter().find(|p| p.name == name).expect("a parameter of it");
        found.literal.parse::<u32>().expect("a number")
    };
    let (there, back) = (["net", "hbm"], ["hbm", "net"]);
    let asks = Fifo {
        name: "u_asks",
        doc: "Addresses, to HBM.",
        clocks: there,
        depth: SHALLOW,
        width: param("HBM_ADDR_WIDTH") + 4,
    };
    let (depth, flit) = (param("BEAT_DEPTH"), param("FLIT_WIDTH"));
    let of = |name, doc, clocks, depth, width| Fifo { name, doc, clocks, depth, width };
    match module.name {
        "meshkv_axi3_read" => vec![asks, of("u_beats", "Data, from HBM.", back, depth, flit + 3)],
        _ => vec![
            asks,
            of("u_beats", "Data, to HBM.", there, depth, flit + param("FLIT_BYTES_NUM") + 1),
            of("u_answers", "Answers to writes, from HBM.", back, SHALLOW, 2),
        ],
    }
}
