//! Reads the output of `write_rtlil` after `proc`.

use crate::synth::netlist::modules::{Bit, Cell, Module, Modules, Port, Wire};
use anyhow::{bail, Context as _, Result};
use std::collections::HashMap;
use std::iter::Peekable;

impl Modules {
    /// Reads all modules.
    ///
    /// # Errors
    /// When the text is cut short, is no such netlist, or has processes.
    pub fn parse(rtlil: &str) -> Result<Modules> {
        let mut modules = Modules::default();
        let mut kept = false;
        let mut lines = rtlil.lines().map(str::trim_start);
        while let Some(line) = lines.next() {
            kept |= line.starts_with("attribute \\keep_hierarchy ");
            if let Some(key) = line.strip_prefix("module ") {
                let module =
                    Reading::default().module(&mut lines).with_context(|| format!("module {key}"))?;
                modules.all.insert(plain(key), Module { kept: std::mem::take(&mut kept), ..module });
            }
        }
        Ok(modules)
    }
}

/// A name without the backslash.
fn plain(name: &str) -> String {
    name.strip_prefix('\\').unwrap_or(name).to_owned()
}

/// Notes an attribute of the next object, as if that were a wire: `\\async_reg "true"`, `\\hdlname "u_fifo u_write gray_q"`.
fn note(next: &mut Wire, attribute: &str) {
    let (name, value) = attribute.split_once(' ').unwrap_or((attribute, ""));
    match name {
        "\\async_reg" => next.async_reg = true,
        "\\init" => next.initial = true,
        "\\hdlname" => next.path = Some(value.trim_matches('"').replace(' ', "/")),
        _ => (),
    }
}

/// A module while it is read.
#[derive(Default)]
struct Reading<'a> {
    module: Module,
    /// First net and width of each wire.
    nets: HashMap<&'a str, (u32, u32)>,
}

impl<'a> Reading<'a> {
    fn module(mut self, lines: &mut impl Iterator<Item = &'a str>) -> Result<Module> {
        let mut next = Wire::default();
        while let Some(line) = lines.next() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            // Attributes stand before their object.
            if word == "attribute" {
                note(&mut next, rest);
                continue;
            }
            let next = std::mem::take(&mut next);
            match word {
                "end" => {
                    self.module.ports.sort_by(|a, b| a.name.cmp(&b.name));
                    return Ok(self.module);
                }
                "wire" => self.wire(rest, next)?,
                "connect" => {
                    let mut words = rest.split(' ').peekable();
                    let (to, from) = (self.bits(&mut words)?, self.bits(&mut words)?);
                    self.module.connected.extend(to.into_iter().zip(from));
                }
                "cell" => {
                    let cell = self.cell(rest, next.path, lines)?;
                    self.module.cells.push(cell);
                }
                "process" => bail!("it has a process: `proc` was not run"),
                _ => (),
            }
        }
        bail!("the netlist ends within it")
    }

    /// `width 5 offset 2 output 4 \m_data`.
    fn wire(&mut self, rest: &'a str, mut wire: Wire) -> Result<()> {
        let (words, key) = rest.rsplit_once(' ').unwrap_or(("", rest));
        (wire.name, wire.first, wire.width) = (plain(key), self.module.nets(), 1);
        let mut output = None;
        let mut words = words.split(' ');
        while let Some(word) = words.next() {
            match word {
                "width" => wire.width = words.next().context("no width")?.parse()?,
                "offset" => wire.offset = words.next().context("no offset")?.parse()?,
                "input" => output = Some(false),
                "output" | "inout" => output = Some(true),
                _ => (),
            }
        }
        self.nets.insert(key, (wire.first, wire.width));
        if let Some(output) = output {
            let bits = wire.nets().map(Bit::Net).collect();
            self.module.ports.push(Port { name: wire.name.clone(), output, bits });
        }
        self.module.wires.push(wire);
        Ok(())
    }

    fn cell(
        &self,
        head: &str,
        path: Option<String>,
        lines: &mut impl Iterator<Item = &'a str>,
    ) -> Result<Cell> {
        let (kind, name) = head.split_once(' ').context("a cell without a name")?;
        let mut cell = Cell { kind: plain(kind), name: plain(name), path, ..Cell::default() };
        for line in lines {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match (word, rest.split_once(' ')) {
                ("end", _) => {
                    cell.ports.sort_by(|a, b| a.name.cmp(&b.name));
                    return Ok(cell);
                }
                ("parameter", _) => cell.parameters.extend(parameter(rest)),
                ("connect", Some((port, signal))) => {
                    let bits = self.bits(&mut signal.split(' ').peekable())?;
                    cell.ports.push(Port { name: plain(port), output: false, bits });
                }
                _ => (),
            }
        }
        bail!("the netlist ends within cell {name}")
    }

    /// Bits of one signal: a name, perhaps with a range, a constant, or several in braces, the highest first.
    fn bits<'w, I: Iterator<Item = &'w str>>(&self, words: &mut Peekable<I>) -> Result<Vec<Bit>> {
        let word = words.next().context("a signal is missing")?;
        if word == "{" {
            let mut parts = Vec::new();
            while words.peek().context("a brace is open")? != &"}" {
                parts.push(self.bits(words)?);
            }
            words.next();
            return Ok(parts.into_iter().rev().flatten().collect());
        }
        let Some((first, width)) = self.nets.get(word).copied() else { return constant(word) };
        let range = words.peek().and_then(|word| word.strip_prefix('[')?.strip_suffix(']'));
        let Some(range) = range else { return Ok((first..first + width).map(Bit::Net).collect()) };
        let (high, low) = range.split_once(':').unwrap_or((range, range));
        let (high, low): (u32, u32) = (high.parse()?, low.parse()?);
        words.next();
        if high >= width || low > high {
            bail!("{word} has no bits [{range}]");
        }
        Ok((first + low..=first + high).map(Bit::Net).collect())
    }
}

/// `\WIDTH 5`, perhaps after `signed`.
fn parameter(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('\\')?.1.split_once(' ')?;
    Some((name.to_owned(), value.to_owned()))
}

/// Bits of a constant: `4'01xz`, or a number of 32 bits.
fn constant(word: &str) -> Result<Vec<Bit>> {
    let Some((_, digits)) = word.split_once('\'') else {
        let number: i32 = word.parse().with_context(|| format!("no signal {word}"))?;
        return Ok((0..32).map(|at| Bit::Constant(if number >> at & 1 == 1 { '1' } else { '0' })).collect());
    };
    Ok(digits.chars().rev().map(Bit::Constant).collect())
}

#[cfg(test)]
mod tests {
    use crate::synth::netlist::modules::*;

    #[test]
    fn signals_are_read_bit_by_bit() {
        let text =
            "module \\a\n  wire width 3 input 1 \\d\n  wire width 3 output 2 \\q\n  cell $dff $1\n    \
                    parameter \\WIDTH 3\n    parameter \\INIT 3'110\n    connect \\D { \\d [2:1] 1'0 }\n    \
                    connect \\Q \\q\n  end\n  connect \\q [0] \\d [1]\nend\n";
        let modules = Modules::parse(text).unwrap();
        let module = modules.get("a").unwrap();
        let cell = &module.cells[0];
        assert_eq!(port(&cell.ports, "D").unwrap().bits, [Bit::Constant('0'), Bit::Net(1), Bit::Net(2)]);
        assert_eq!((cell.number("WIDTH"), cell.number("INIT"), cell.number("X")), (3, 6, 0));
        assert_eq!((module.same().collect::<Vec<_>>(), module.name(4).as_str()), (vec![(3, 1)], "q[1]"));
        assert!(port(&module.ports, "q").unwrap().output && !port(&module.ports, "d").unwrap().output);
        assert_eq!(modules.key("a").unwrap(), "a");
        assert!(Modules::parse(&text.replace("[2:1]", "[3:1]")).is_err());
    }

    #[test]
    fn a_netlist_that_is_cut_short_or_has_processes_is_an_error() {
        for text in [
            "module \\a\n  wire \\b\n",
            "module \\a\n  cell $and $1\n",
            "module \\a\n  process $x\n  end\nend\n",
        ] {
            assert!(Modules::parse(text).is_err(), "{text}");
        }
    }
}
