//! A netlist of Yosys (RTLIL) with all its connections, bit by bit.

use crate::synth::lint::passes::{netlist, Linters};
use crate::synth::lint::vivado;
use crate::tools::interrupt::Interrupt;
use anyhow::{bail, Context as _, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::Path;

/// A net of a module, or none where the bit is a constant.
pub(in crate::synth::lint) type Bit = Option<usize>;

/// A port of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::synth::lint) struct Port {
    /// True if it is an output.
    pub(in crate::synth::lint) output: bool,
    /// Its nets, the lowest bit first.
    pub(in crate::synth::lint) nets: Vec<usize>,
}

/// A cell, or an instance of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::synth::lint) struct Cell {
    pub(in crate::synth::lint) kind: String,
    pub(in crate::synth::lint) name: String,
    /// Ports with their bits, the lowest first.
    pub(in crate::synth::lint) ports: Vec<(String, Vec<Bit>)>,
    /// The memory that it reads or writes.
    pub(in crate::synth::lint) memory: Option<String>,
}

impl Cell {
    /// The first bit of a port.
    pub(in crate::synth::lint) fn bit(&self, port: &str) -> Bit {
        self.ports.iter().find(|(name, _)| name == port).and_then(|(_, bits)| *bits.first()?)
    }
}

/// A module: its nets are numbered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::synth::lint) struct Module {
    /// A name for each net.
    pub(in crate::synth::lint) names: Vec<String>,
    pub(in crate::synth::lint) ports: BTreeMap<String, Port>,
    pub(in crate::synth::lint) cells: Vec<Cell>,
    /// Nets that are the same.
    pub(in crate::synth::lint) same: Vec<(usize, usize)>,
    /// Nets that are marked as registers which sample bits of another clock.
    pub(in crate::synth::lint) samples: BTreeSet<usize>,
    /// Nets of registers with an initial value.
    pub(in crate::synth::lint) initial: BTreeSet<usize>,
    /// Nets and width of each wire.
    wires: BTreeMap<String, (usize, usize)>,
}

/// All modules, by their key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Modules {
    all: BTreeMap<String, Module>,
}

impl Modules {
    /// Reads what Yosys has elaborated in `dir`. Enables and resets are inputs of registers, and what drives nothing is
    /// gone.
    ///
    /// # Errors
    /// When Yosys cannot be started or fails.
    pub fn read(linters: &Linters, dir: &Path, top: &str, interrupt: &Interrupt) -> Result<Modules> {
        let registers = format!("{top}.registers.il");
        let script = format!("read_rtlil {}; opt_dff; opt_clean; write_rtlil {registers}", netlist(top));
        if let Some(said) = vivado::yosys(linters, dir, &script, interrupt)? {
            bail!("Yosys cannot find the registers: {said}");
        }
        Modules::parse(&fs::read_to_string(dir.join(registers))?)
    }

    /// Reads the output of `write_rtlil`.
    pub(in crate::synth::lint) fn parse(rtlil: &str) -> Result<Modules> {
        let mut modules = Modules::default();
        let mut lines = rtlil.lines().map(str::trim_start);
        while let Some(line) = lines.next() {
            if let Some(key) = line.strip_prefix("module ") {
                let module = Module::parse(&mut lines).with_context(|| format!("module {key}"))?;
                modules.all.insert(key.to_owned(), module);
            }
        }
        Ok(modules)
    }

    /// The module of a key; none for the cells of Yosys itself.
    pub(in crate::synth::lint) fn get(&self, key: &str) -> Option<&Module> {
        self.all.get(key)
    }

    /// Key of the module of a name in the source.
    pub(in crate::synth::lint) fn key(&self, name: &str) -> Result<&str> {
        let named =
            |key: &&String| key.rsplit('\\').next() == Some(name) || key.contains(&format!("\\{name}\\"));
        let found = self.all.keys().find(named);
        Ok(found.with_context(|| format!("Yosys' netlist has no module {name}"))?)
    }
}

impl Module {
    fn parse<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Result<Module> {
        let mut module = Module::default();
        let (mut samples, mut initial) = (false, false);
        while let Some(line) = lines.next() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "end" => return Ok(module),
                // Attributes stand before their object.
                "attribute" => {
                    samples |= rest.starts_with("\\async_reg ");
                    initial |= rest.starts_with("\\init ");
                    continue;
                }
                "wire" => {
                    let nets = module.wire(rest)?;
                    module.samples.extend(nets.clone().filter(|_| samples));
                    module.initial.extend(nets.filter(|_| initial));
                }
                "connect" => {
                    let (to, from) = module.two(rest)?;
                    module.same.extend(to.into_iter().zip(from).filter_map(|(a, b)| Some((a?, b?))));
                }
                "cell" => {
                    let cell = module.cell(rest, lines)?;
                    module.cells.push(cell);
                }
                "process" => bail!("the netlist has processes"),
                _ => (),
            }
            (samples, initial) = (false, false);
        }
        bail!("the netlist ends within a module")
    }

    /// `width 2 input 1 \name`. Returns its nets.
    fn wire(&mut self, rest: &str) -> Result<Range<usize>> {
        let words: Vec<&str> = rest.split(' ').collect();
        let name = *words.last().context("a wire without a name")?;
        let after = |key: &str| words.iter().position(|word| *word == key).map(|at| words[at + 1]);
        let width = after("width").map_or(Ok(1), str::parse)?;
        let first = self.names.len();
        let plain = name.trim_start_matches('\\');
        self.names.extend((0..width).map(|bit| {
            if width == 1 {
                plain.to_owned()
            } else {
                format!("{plain}[{bit}]")
            }
        }));
        self.wires.insert(name.to_owned(), (first, width));
        let output = after("output").is_some() || after("inout").is_some();
        if output || after("input").is_some() {
            let port = Port { output, nets: (first..first + width).collect() };
            self.ports.insert(plain.to_owned(), port);
        }
        Ok(first..first + width)
    }

    fn cell<'a>(&mut self, head: &str, lines: &mut impl Iterator<Item = &'a str>) -> Result<Cell> {
        let (kind, name) = head.split_once(' ').context("a cell without a name")?;
        let (kind, name) = (kind.to_owned(), name.trim_start_matches('\\').to_owned());
        let (mut ports, mut memory) = (Vec::new(), None);
        for line in lines.by_ref() {
            if line == "end" {
                return Ok(Cell { kind, name, ports, memory });
            }
            memory = line.strip_prefix("parameter \\MEMID ").map(str::to_owned).or(memory);
            if let Some((port, signal)) = line.strip_prefix("connect ").and_then(|rest| rest.split_once(' '))
            {
                ports.push((port.trim_start_matches('\\').to_owned(), self.bits(&mut signal.split(' '))?));
            }
        }
        bail!("the netlist ends within cell {name}")
    }

    fn two(&self, rest: &str) -> Result<(Vec<Bit>, Vec<Bit>)> {
        let mut words = rest.split(' ').peekable();
        Ok((self.one(&mut words)?, self.one(&mut words)?))
    }

    /// All bits of the words, which are one signal.
    fn bits<'a>(&self, words: &mut impl Iterator<Item = &'a str>) -> Result<Vec<Bit>> {
        self.one(&mut words.peekable())
    }

    /// One signal: a name, perhaps with a range, a constant, or several in braces, the highest first.
    fn one<'a, I: Iterator<Item = &'a str>>(&self, words: &mut std::iter::Peekable<I>) -> Result<Vec<Bit>> {
        let word = words.next().context("a signal is missing")?;
        if word == "{" {
            let mut parts = Vec::new();
            while words.peek().context("a brace is open")? != &"}" {
                parts.push(self.one(words)?);
            }
            words.next();
            return Ok(parts.into_iter().rev().flatten().collect());
        }
        let Some((first, width)) = self.wires.get(word).copied() else {
            // A constant: 4'01xz, or a number of 32 bits.
            let width = word.split_once('\'').map_or(Ok(32), |(width, _)| width.parse());
            return Ok(vec![None; width.with_context(|| format!("no signal {word}"))?]);
        };
        let range = words.peek().and_then(|word| word.strip_prefix('[')?.strip_suffix(']'));
        let Some(range) = range else { return Ok((first..first + width).map(Some).collect()) };
        let (high, low) = range.split_once(':').unwrap_or((range, range));
        let (high, low): (usize, usize) = (high.parse()?, low.parse()?);
        words.next();
        if high >= width || low > high {
            bail!("{word} has no bits [{range}]");
        }
        Ok((first + low..=first + high).map(Some).collect())
    }
}

/// Sets of nets that are the same.
#[derive(Debug, Clone, Default)]
pub(in crate::synth::lint) struct Same {
    parent: Vec<usize>,
}

impl Same {
    pub(in crate::synth::lint) fn new(nets: usize) -> Same {
        Same { parent: (0..nets).collect() }
    }

    /// Adds nets; returns the number of the first.
    pub(in crate::synth::lint) fn add(&mut self, nets: usize) -> usize {
        let first = self.parent.len();
        self.parent.extend(first..first + nets);
        first
    }

    pub(in crate::synth::lint) fn root(&mut self, net: usize) -> usize {
        let mut root = net;
        while self.parent[root] != root {
            self.parent[root] = self.parent[self.parent[root]];
            root = self.parent[root];
        }
        root
    }

    pub(in crate::synth::lint) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The lower number wins: it is the net of the outer module.
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high] = low;
    }
}

#[cfg(test)]
mod tests {
    use crate::synth::lint::graph::connections::*;

    #[test]
    fn signals_are_read_bit_by_bit() {
        let text = "module \\a\n  wire width 3 input 1 \\d\n  wire width 3 output 2 \\q\n  cell $dff $1\n    \
                    connect \\D { \\d [2:1] 1'0 }\n    connect \\Q \\q\n  end\n  connect \\q [0] \\d [1]\nend\n";
        let modules = Modules::parse(text).unwrap();
        let module = modules.get("\\a").unwrap();
        assert_eq!(module.cells[0].ports[0].1, [None, Some(1), Some(2)]);
        assert_eq!((module.same.clone(), module.names[4].as_str()), (vec![(3, 1)], "q[1]"));
        assert!(module.ports["q"].output && !module.ports["d"].output);
        assert_eq!(modules.key("a").unwrap(), "\\a");
        assert!(Modules::parse(&text[..60]).is_err());
        assert!(Modules::parse(&text.replace("[2:1]", "[3:1]")).is_err());
    }
}
