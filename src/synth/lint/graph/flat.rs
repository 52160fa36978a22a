//! A netlist without hierarchy, net by net, for walks along its logic.

use crate::synth::lint::graph::summary::{role, Role};
use crate::synth::netlist::modules::{self, port, source_name, Bit, Module, Modules};
use crate::synth::netlist::same::Same;
use anyhow::{Context as _, Result};
use std::collections::BTreeSet;

/// Number of a cell.
pub(in crate::synth::lint) type Cell = u32;

/// Kind of logic cell that a word passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::synth::lint) enum Step {
    Multiplexer,
    Logic,
}

/// End of a way through logic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::synth::lint) enum End {
    /// Data of a register.
    Register,
    /// Data of a register that is marked as one that samples another clock.
    Synchronizer,
    /// Enable or reset of a register.
    Control,
    /// A memory's write port.
    Memory,
    /// A register within a DSP slice.
    Slice,
}

/// An occurrence of a module.
struct Place<'a> {
    module: &'a Module,
    /// Name of the module in its source.
    kind: &'a str,
    /// Number of its first net.
    first: u32,
    path: String,
}

/// All occurrences of all modules below a top.
pub struct Flat<'a> {
    places: Vec<Place<'a>>,
    /// For each net, the number of the net that represents all its aliases.
    root: Vec<u32>,
    /// Place and index of each cell that is no instance.
    cells: Vec<(u32, u32)>,
    /// The loads of net n are those from `begin[n]` up to `begin[n + 1]`: a cell, and the number of the bit among those
    /// of all its ports.
    begin: Vec<u32>,
    loads: Vec<(Cell, u32)>,
}

/// A name ends so if the module is a DSP slice.
const SLICE: &str = "_dsp";

impl<'a> Flat<'a> {
    /// All occurrences below `top`.
    ///
    /// # Errors
    /// When the netlist has no module of this name.
    pub fn new(modules: &'a Modules, top: &str) -> Result<Flat<'a>> {
        let (places, mut same) = places(modules, top)?;
        let nets = places.last().map_or(0, |place| place.first + place.module.nets());
        let root = (0..nets).map(|net| same.root(net)).collect();
        let mut flat =
            Flat { places, root, cells: Vec::new(), begin: vec![0; nets as usize + 2], loads: Vec::new() };
        for (at, place) in flat.places.iter().enumerate() {
            let own = place.module.cells.iter().enumerate();
            let own = own.filter(|(_, cell)| modules.get(&cell.kind).is_none());
            flat.cells.extend(own.map(|(index, _)| (at as u32, index as u32)));
        }
        flat.find_loads();
        Ok(flat)
    }

    /// Sorts the inputs of all cells by their net: counts them, then places them.
    fn find_loads(&mut self) {
        let mut begin = std::mem::take(&mut self.begin);
        self.inputs(&mut |net, _, _| begin[net as usize + 2] += 1);
        for at in 2..begin.len() {
            begin[at] += begin[at - 1];
        }
        let mut loads = vec![(0, 0); *begin.last().unwrap_or(&0) as usize];
        self.inputs(&mut |net, cell, pin| {
            let next = &mut begin[net as usize + 1];
            loads[*next as usize] = (cell, pin);
            *next += 1;
        });
        (self.begin, self.loads) = (begin, loads);
    }

    /// Passes every input bit of every cell on, but clocks.
    fn inputs(&self, tell: &mut dyn FnMut(u32, Cell, u32)) {
        for number in 0..self.cells.len() as u32 {
            let (place, cell) = self.cell(number);
            let mut pin = 0;
            for port in &cell.ports {
                let role = role(&cell.kind, &port.name);
                let input = !matches!(role, Role::Output | Role::LogicOutput | Role::Clock);
                for (bit, at) in port.bits.iter().zip(pin..) {
                    if let (true, Some(net)) = (input, bit.net()) {
                        tell(self.root(place, net), number, at);
                    }
                }
                pin += port.bits.len() as u32;
            }
        }
    }

    /// The net that represents all aliases of a net of a place.
    fn root(&self, place: &Place, net: u32) -> u32 {
        self.root[(place.first + net) as usize]
    }

    fn cell(&self, number: Cell) -> (&Place<'a>, &'a modules::Cell) {
        let (place, index) = self.cells[number as usize];
        let place = &self.places[place as usize];
        (place, &place.module.cells[index as usize])
    }

    /// Number of nets.
    pub(in crate::synth::lint) fn nets(&self) -> usize {
        self.root.len()
    }

    /// The cells and bits that a net drives.
    pub(in crate::synth::lint) fn loads(&self, net: u32) -> impl Iterator<Item = (Cell, u32)> + '_ {
        let [from, to] = [0, 1].map(|next| self.begin[net as usize + next] as usize);
        self.loads[from..to].iter().copied()
    }

    /// The clock of a register or of a memory's port; none for logic.
    fn clock(&self, number: Cell) -> Option<u32> {
        let (place, cell) = self.cell(number);
        let clocked = is_register(&cell.kind) || writes_memory(&cell.kind);
        clocked.then(|| cell.net("CLK", 0)).flatten().map(|net| self.root(place, net))
    }

    /// The clocks of all registers.
    pub(in crate::synth::lint) fn clocks(&self) -> BTreeSet<u32> {
        (0..self.cells.len() as u32).filter_map(|cell| self.clock(cell)).collect()
    }

    /// The nets that registers of a clock drive, and memories that it writes, each with its own number.
    pub(in crate::synth::lint) fn outputs_of(&self, clock: u32) -> Vec<(u32, u32)> {
        let mut written = BTreeSet::new();
        let mut outputs = Vec::new();
        for number in (0..self.cells.len() as u32).filter(|cell| self.clock(*cell) == Some(clock)) {
            let (place, cell) = self.cell(number);
            match memory(cell) {
                "" => self.add_outputs(place, cell, "Q", &mut outputs),
                memory => drop(written.insert((place.first, memory))),
            }
        }
        for number in 0..self.cells.len() as u32 {
            let (place, cell) = self.cell(number);
            if cell.kind.starts_with("$memrd") && written.contains(&(place.first, memory(cell))) {
                self.add_outputs(place, cell, "DATA", &mut outputs);
            }
        }
        outputs
    }

    /// The nets with no defined value after a reset, each with its own number: registers without a reset
    /// and without an initial value, and outputs of memories.
    pub(in crate::synth::lint) fn unset(&self) -> Vec<(u32, u32)> {
        let mut unset = Vec::new();
        for number in 0..self.cells.len() as u32 {
            let (place, cell) = self.cell(number);
            let mut outputs = Vec::new();
            match cell.kind.as_str() {
                "$dff" | "$dffe" => self.add_outputs(place, cell, "Q", &mut outputs),
                kind if kind.starts_with("$memrd") => self.add_outputs(place, cell, "DATA", &mut outputs),
                _ => (),
            }
            let initial = |own: u32| place.module.wire(own - place.first).initial;
            unset.extend(outputs.into_iter().filter(|(_, own)| !initial(*own)));
        }
        unset
    }

    /// Kind of a cell, and the port that one of its bits is of.
    pub(in crate::synth::lint) fn pin(&self, number: Cell, pin: u32) -> (&'a str, &'a str) {
        let (_, cell) = self.cell(number);
        (&cell.kind, Self::port(cell, pin).0)
    }

    fn add_outputs(&self, place: &Place, cell: &modules::Cell, port: &str, to: &mut Vec<(u32, u32)>) {
        to.extend(cell.nets(port).map(|net| (self.root(place, net), place.first + net)));
    }

    /// Port of a bit, and its place in it.
    fn port(cell: &modules::Cell, pin: u32) -> (&str, usize, usize) {
        let mut left = pin as usize;
        for port in &cell.ports {
            let width = port.bits.len();
            if left < width {
                return (&port.name, left, width);
            }
            left -= width;
        }
        unreachable!("the bit is one of the cell")
    }

    /// Passes on the nets that an input bit of a cell of logic decides.
    pub(in crate::synth::lint) fn through(&self, number: Cell, pin: u32, tell: &mut dyn FnMut(u32, Step)) {
        let (place, cell) = self.cell(number);
        if is_register(&cell.kind) || writes_memory(&cell.kind) {
            return;
        }
        let (port, bit, width) = Self::port(cell, pin);
        let outputs = cell.ports.iter().filter(|port| role(&cell.kind, &port.name) == Role::LogicOutput);
        for modules::Port { bits, .. } in outputs {
            let mut one = |at: usize, step| {
                if let Some(net) = bits.get(at).and_then(Bit::net) {
                    tell(self.root(place, net), step);
                }
            };
            match cell.kind.as_str() {
                "$mux" | "$pmux" if port != "S" => one(bit % bits.len(), Step::Multiplexer),
                "$and" | "$or" | "$xor" | "$xnor" | "$not" if width == bits.len() => one(bit, Step::Logic),
                _ => (0..bits.len()).for_each(|at| one(at, Step::Logic)),
            }
        }
    }

    /// The clock that samples an input bit, and how; none where it goes on through logic.
    pub(in crate::synth::lint) fn end(&self, number: Cell, pin: u32) -> Option<(u32, End)> {
        let clock = self.clock(number)?;
        let (place, cell) = self.cell(number);
        if writes_memory(&cell.kind) {
            return Some((clock, End::Memory));
        }
        let end = match role(&cell.kind, Self::port(cell, pin).0) {
            _ if place.kind.ends_with(SLICE) => End::Slice,
            Role::Data if cell.net("Q", 0).is_some_and(|q| place.module.wire(q).async_reg) => {
                End::Synchronizer
            }
            Role::Data => End::Register,
            _ => End::Control,
        };
        Some((clock, end))
    }

    /// Name of a net, with its path.
    pub(in crate::synth::lint) fn name(&self, net: u32) -> String {
        let (place, name) = self.place(net);
        format!("{}{name}", place.path)
    }

    /// Module of a net and its name there.
    pub(in crate::synth::lint) fn origin(&self, net: u32) -> (&'a str, String) {
        let (place, name) = self.place(net);
        (place.kind, name)
    }

    fn place(&self, net: u32) -> (&Place<'a>, String) {
        let at = self.places.partition_point(|place| place.first <= net) - 1;
        let place = &self.places[at];
        (place, place.module.name(net - place.first))
    }

    /// Name of the register or memory that a cell drives or writes, with its path.
    pub(in crate::synth::lint) fn name_of_cell(&self, number: Cell) -> String {
        let (place, cell) = self.cell(number);
        let name = match (cell.net("Q", 0), memory(cell)) {
            (Some(q), _) => place.module.name(q),
            (None, "") => cell.name.clone(),
            (None, memory) => memory.to_owned(),
        };
        format!("{}{name}", place.path)
    }
}

/// The occurrences of all modules, the top first, and the nets that are the same.
fn places<'a>(modules: &'a Modules, top: &str) -> Result<(Vec<Place<'a>>, Same)> {
    let (mut places, mut same) = (Vec::new(), Same::new(0));
    // Key and path of a module, its instance, and the first net of its parent.
    let mut left = vec![(modules.key(top)?, String::new(), None::<(&modules::Cell, u32)>)];
    while let Some((key, path, outer)) = left.pop() {
        let module = modules.get(key).with_context(|| format!("no module {key}"))?;
        let first = same.add(module.nets());
        module.same().for_each(|(a, b)| same.join(first + a, first + b));
        if let Some((cell, parent)) = outer {
            for outer in &cell.ports {
                let Some(port) = port(&module.ports, &outer.name) else { continue };
                let pairs = port.bits.iter().zip(&outer.bits);
                pairs
                    .filter_map(|(inner, outer)| Some((inner.net()?, outer.net()?)))
                    .for_each(|(inner, outer)| same.join(parent + outer, first + inner));
            }
        }
        for cell in module.cells.iter().filter(|cell| modules.get(&cell.kind).is_some()) {
            left.push((cell.kind.as_str(), format!("{path}{}/", cell.name), Some((cell, first))));
        }
        places.push(Place { module, kind: source_name(key), first, path });
    }
    Ok((places, same))
}

/// The memory that a cell reads or writes; nothing for others.
fn memory(cell: &modules::Cell) -> &str {
    cell.word("MEMID").trim_matches('\\')
}

fn is_register(kind: &str) -> bool {
    role(kind, "Q") == Role::Output
}

fn writes_memory(kind: &str) -> bool {
    kind.starts_with("$memwr")
}
