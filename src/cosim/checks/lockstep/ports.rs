//! Runs two fabrics behind the same ports with the same inputs and compares all outputs in every
//! period.
//!
//! Payload is compared only while its `valid` is high, and `ready` only while the matching `valid`
//! is high. Of a payload, the bits that both fabrics carry are compared. The first difference ends
//! the run.

use crate::cosim::bits::get_bits;
use crate::cosim::build::{is_own, tiles_sharing};
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::ports::{DutPorts, LinkFlip};
use crate::cosim::dut::{DutError, PortDifference};
use crate::design::{Design, NodeId};
use crate::emit::{Dir, ModuleSpec};
use crate::model::cycle::common::Reached;
use crate::model::cycle::network::Upset;

/// A port of both fabrics; its number is its place in the list.
#[derive(Debug)]
struct Both {
    name: String,
    numbers: [usize; 2],
    bits: u32,
    /// Bits of a part that are compared.
    compared: u32,
    parts: u32,
    dir: Dir,
    /// The port that qualifies this one: it is compared only while that one is high.
    valid: Option<usize>,
}

impl Both {
    fn width(&self) -> u32 {
        self.bits / self.parts
    }
}

/// Two fabrics. The caller reads the outputs of the first.
#[derive(Debug)]
pub struct PortLockstep {
    duts: [Box<dyn DutPorts>; 2],
    names: [&'static str; 2],
    ports: Vec<Both>,
    /// A port that is not compared while another is high.
    unless: Option<(usize, usize)>,
    cols: u32,
    tiles: u32,
    cycle: u64,
    upset: Option<(u64, NodeId, Upset)>,
}

impl PortLockstep {
    /// Pairs two new fabrics, which have a name each and the ports of `top`.
    ///
    /// # Errors
    /// If one of them lacks a port.
    pub fn new(
        duts: [(&'static str, Box<dyn DutPorts>); 2],
        top: &ModuleSpec,
        design: &Design,
    ) -> Result<PortLockstep, DutError> {
        let [(first, a), (second, b)] = duts;
        let mut duts = [a, b];
        let carried = duts.iter().map(|s| s.payload_bits()).min().unwrap_or(0);
        let mut ports = Vec::new();
        for port in top.ports.iter().filter(|p| !is_own(p)) {
            let lacks = || DutError::Mismatch(format!("it has no port {}", port.name));
            let [a, b] = duts.each_mut().map(|dut| dut.find(&port.name));
            let (numbers, parts) =
                ([a.ok_or_else(lacks)?, b.ok_or_else(lacks)?], tiles_sharing(port, design));
            let width = port.width.bits / parts;
            let compared = match port.name.as_str() {
                // Numbers belong to the datapath: the driver compares them.
                "out_data" | "out_saturated" | "merge_sum_max" | "merge_sum_data" => 0,
                // The model has no flipped bits: who runs it judges this.
                "error_parity" => 0,
                name if name.ends_with("_data") => width.min(carried),
                _ => width,
            };
            let (name, bits, dir) = (port.name.clone(), port.width.bits, port.dir);
            ports.push(Both { name, numbers, bits, compared, parts, dir, valid: None });
        }
        let find = |name: &str| ports.iter().position(|port| port.name == name);
        let valids: Vec<_> = ports.iter().map(|port| valid_of(port, &ports)).collect();
        // A close has no home.
        let unless = find("job_lag").zip(find("job_close"));
        for (port, valid) in ports.iter_mut().zip(valids) {
            port.valid = valid;
        }
        let (cols, tiles) = (design.mesh.cols(), design.mesh.tiles() as u32);
        Ok(PortLockstep { duts, names: [first, second], ports, unless, cols, tiles, cycle: 0, upset: None })
    }

    /// Pairs compiled Verilog with its model.
    ///
    /// # Errors
    /// As [`PortLockstep::new`].
    pub fn beside(
        rtl: Box<dyn DutPorts>,
        model: Box<dyn DutPorts>,
        top: &ModuleSpec,
        design: &Design,
    ) -> Result<PortLockstep, DutError> {
        PortLockstep::new([("the Verilog", rtl), ("the model", model)], top, design)
    }

    /// Changes the state of the second fabric, the model, before a cycle.
    pub fn upset_at(&mut self, cycle: u64, tile: NodeId, upset: Upset) {
        self.upset = Some((cycle, tile, upset));
    }

    /// Value of one of the two at a part of a port.
    fn part(&self, which: usize, port: usize, part: u32) -> impl Iterator<Item = u32> + '_ {
        let both = &self.ports[port];
        let words = self.duts[which].words(both.numbers[which], both.bits);
        get_bits(words, (part * both.width()) as usize, both.compared)
    }

    fn is_set(&self, port: usize, part: u32) -> bool {
        self.part(0, port, part).any(|word| word != 0)
    }

    /// True if a part of an output is valid.
    fn means(&self, port: usize, part: u32) -> bool {
        let valid = self.ports[port].valid.is_none_or(|valid| self.is_set(valid, part));
        valid && !self.unless.is_some_and(|(of, unless)| of == port && self.is_set(unless, part))
    }

    /// The first output that differs.
    fn difference(&self) -> Option<PortDifference> {
        let outputs = (0..self.ports.len()).filter(|&port| self.ports[port].dir == Dir::Output);
        for port in outputs {
            let both = &self.ports[port];
            let all = [0, 1].map(|i| self.duts[i].words(both.numbers[i], both.bits));
            let words = both.bits.div_ceil(32) as usize;
            if all[0][..words] == all[1][..words] {
                continue;
            }
            let differs = |part: &u32| !self.part(0, port, *part).eq(self.part(1, port, *part));
            let Some(part) = (0..both.parts).filter(differs).find(|&part| self.means(port, part)) else {
                continue;
            };
            return Some(self.named(port, part));
        }
        None
    }

    fn named(&self, port: usize, part: u32) -> PortDifference {
        let both = &self.ports[port];
        let place = match both.parts {
            1 => String::new(),
            // These ports are as many as the tiles where each tile has one.
            _ if both.name.starts_with("m_axi_") => format!("memory port {part}, "),
            parts if parts == self.tiles => format!("tile ({}, {}), ", part % self.cols, part / self.cols),
            parts if parts == self.cols => format!("column {part}, "),
            _ => format!("part {part}, "),
        };
        let value = |which: usize| {
            let words: Vec<_> = self.part(which, port, part).collect();
            words.iter().rev().map(|word| format!("{word:08x}")).collect::<String>()
        };
        let [a, b] = [0, 1].map(|i| format!("{} has 0x{}", self.names[i], value(i)));
        PortDifference { cycle: self.cycle, place, port: both.name.clone(), values: format!("{a}, {b}") }
    }

    /// Copies the inputs of the first fabric to the second.
    fn copy_inputs(&mut self) {
        let [a, b] = &mut self.duts;
        for port in self.ports.iter().filter(|port| port.dir == Dir::Input) {
            let words = port.bits.div_ceil(32) as usize;
            let from = &a.words(port.numbers[0], port.bits)[..words];
            b.words_mut(port.numbers[1], port.bits)[..words].copy_from_slice(from);
        }
    }
}

/// The port that qualifies another: for a ready the matching valid, else the valid output of the
/// bundle.
fn valid_of(port: &Both, all: &[Both]) -> Option<usize> {
    let name = port.name.as_str();
    let find = |name: &str| all.iter().position(|other| other.name == name && other.parts == port.parts);
    if let Some(bundle) = name.strip_suffix("ready") {
        return find(&format!("{bundle}valid"));
    }
    let is_valid = |&valid: &usize| all[valid].dir == Dir::Output && all[valid].name != name;
    if name.starts_with("m_axi_ar") {
        return find("m_axi_arvalid").filter(is_valid);
    }
    // The smallest bundle that has a valid.
    let ends = name.rmatch_indices('_').map(|(at, _)| at);
    ends.filter_map(|end| find(&format!("{}_valid", &name[..end]))).find(is_valid)
}

impl DutPorts for PortLockstep {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.ports.iter().position(|port| port.name == name)
    }

    fn words(&self, port: usize, bits: u32) -> &[u32] {
        self.duts[0].words(self.ports[port].numbers[0], bits)
    }

    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32] {
        self.duts[0].words_mut(self.ports[port].numbers[0], bits)
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        self.copy_inputs();
        if let Some((_, tile, upset)) = self.upset.filter(|(cycle, ..)| !rst && *cycle == self.cycle) {
            self.duts[1].upset(tile, upset)?;
        }
        for dut in &mut self.duts {
            dut.tick(rst)?;
        }
        if rst {
            self.cycle = 0;
            return Ok(());
        }
        if let Some(difference) = self.difference() {
            return Err(DutError::Differ(Box::new(difference)));
        }
        self.cycle += 1;
        Ok(())
    }

    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        self.duts.iter_mut().try_for_each(|dut| dut.set_clocks(clocks))
    }

    fn flip(&mut self, flip: &LinkFlip) -> Result<(), DutError> {
        self.duts[0].flip(flip)
    }

    fn flipped(&self) -> bool {
        self.duts[0].flipped()
    }

    fn reached(&self) -> Option<Reached> {
        self.duts.iter().find_map(|dut| dut.reached())
    }

    fn payload_bits(&self) -> u32 {
        self.duts[0].payload_bits()
    }
}
