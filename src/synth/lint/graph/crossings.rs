//! Crossings between clocks on the netlist: a path from a register of one clock must end in a register of the other.
//!
//! Only cells that are made for it let words cross: each has proofs under any two clocks (`meshkv prove`). A bit that
//! another clock may sample at any time goes through a synchronizer; several bits do so together only in Gray code.
//! A memory or a DSP slice is no such end: Vivado reports it as CDC-13 or CDC-14, Critical. A word that is held until it is
//! taken may pass one multiplexer before its register. A synchronizer samples a register with no logic between.

use crate::synth::lint::graph::flat::{End, Flat, Step};
use crate::synth::lint::messages::{Message, Severity};
use std::collections::{BTreeMap, BTreeSet};

/// Number of levels of logic since a word's register: none, one multiplexer, or more.
const LEVELS: u8 = 3;

/// Modules whose words stand still while another clock samples them.
const HOLDERS: &[&str] = &["meshkv_async_fifo", "meshkv_async_register", "meshkv_reorder_fifo"];

/// The register of a Gray code: module and name.
const GRAY: (&str, &str) = ("meshkv_async_pointer", "gray_q");

/// Fault of the end of a crossing, and the way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    Memory,
    Slice,
    Logic,
    Control,
    Synchronizer,
    Unlisted,
    Together,
}

impl Wrong {
    fn text(self) -> &'static str {
        match self {
            Wrong::Memory => "ends in a memory: a register must sample it first",
            Wrong::Slice => "ends in a DSP slice: a register must sample it first",
            Wrong::Logic => "passes more than one multiplexer: a register must sample it first",
            Wrong::Control => "enables or resets a register: a register must sample it first",
            Wrong::Synchronizer => "passes logic before a synchronizer: let a register drive it",
            Wrong::Unlisted => {
                "is sampled by a plain register: let meshkv_synchronizer, meshkv_async_register or meshkv_async_fifo do it"
            }
            Wrong::Together => "is one of several bits that a synchronizer samples: only a Gray code may cross so",
        }
    }
}

/// Checks every crossing.
pub fn check(flat: &Flat) -> Vec<Message> {
    let mut found: BTreeMap<(Wrong, String, String), usize> = BTreeMap::new();
    for clock in flat.clocks() {
        Reached::from(flat, clock).wrong(&mut |wrong, source, end| {
            *found.entry((wrong, any_place(&source), any_place(&end))).or_default() += 1;
        });
    }
    let message = |((wrong, source, end), bits): (_, usize)| {
        let (wrong, source, end): (Wrong, String, String) = (wrong, source, end);
        let many = if bits == 1 { String::new() } else { format!(", {bits} times") };
        let text = format!("{source}, which crosses to the clock of {end}{many}, {}", wrong.text());
        Message { severity: Severity::Error, text }
    };
    found.into_iter().map(message).collect()
}

/// A name with the numbers in brackets left out, so that equal crossings count as one.
pub(in crate::synth::lint) fn any_place(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut within = false;
    for letter in name.chars() {
        within &= letter != ']';
        if !within {
            text.push(letter);
        }
        if letter == '[' {
            within = true;
            text.push('*');
        }
    }
    text
}

/// The nets that registers of one clock reach through logic.
struct Reached<'a> {
    flat: &'a Flat<'a>,
    clock: u32,
    /// Of each net: the level of logic on the shortest way, and the register.
    level: Vec<u8>,
    source: Vec<u32>,
}

impl<'a> Reached<'a> {
    fn from(flat: &'a Flat<'a>, clock: u32) -> Reached<'a> {
        let nets = flat.nets();
        let mut reached = Reached { flat, clock, level: vec![LEVELS; nets], source: vec![0; nets] };
        let mut waiting: [Vec<u32>; LEVELS as usize] = Default::default();
        for (net, source) in flat.outputs_of(clock) {
            reached.reach(net, 0, source, &mut waiting);
        }
        // The shortest way first: a net is entered once for each level at most.
        for level in 0..LEVELS {
            while let Some(net) = waiting[usize::from(level)].pop() {
                if reached.level[net as usize] == level {
                    reached.spread(net, level, &mut waiting);
                }
            }
        }
        reached
    }

    fn reach(&mut self, net: u32, level: u8, source: u32, waiting: &mut [Vec<u32>]) {
        let at = net as usize;
        if level < self.level[at] {
            (self.level[at], self.source[at]) = (level, source);
            waiting[usize::from(level)].push(net);
        }
    }

    fn spread(&mut self, net: u32, level: u8, waiting: &mut [Vec<u32>]) {
        let (flat, source) = (self.flat, self.source[net as usize]);
        for (cell, pin) in flat.loads(net) {
            flat.through(cell, pin, &mut |out, step| {
                let next = match step {
                    Step::Multiplexer => (level + 1).min(LEVELS - 1),
                    Step::Logic => LEVELS - 1,
                };
                self.reach(out, next, source, waiting);
            });
        }
    }

    /// Passes every wrong end to `tell`, with the names of its register and of itself.
    fn wrong(&self, tell: &mut dyn FnMut(Wrong, String, String)) {
        // Of each synchronizer: the bits that it samples from this clock.
        let mut sampled: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for (net, &level) in self.level.iter().enumerate().filter(|(_, level)| **level < LEVELS) {
            for (cell, pin) in self.flat.loads(net as u32) {
                let Some((clock, end)) = self.flat.end(cell, pin) else { continue };
                if clock == self.clock {
                    continue;
                }
                let source = self.source[net];
                let name = self.flat.name_of_cell(cell);
                if end == End::Synchronizer {
                    sampled.entry(name.clone()).or_default().insert(source);
                }
                let held = HOLDERS.contains(&self.flat.origin(source).0);
                if let Some(wrong) = wrong(end, level, held) {
                    tell(wrong, self.flat.name(source), name);
                }
            }
        }
        for (name, sources) in sampled.into_iter().filter(|(_, sources)| sources.len() > 1) {
            for source in sources {
                let (module, register) = self.flat.origin(source);
                if (module, register.split('[').next().unwrap_or_default()) != GRAY {
                    tell(Wrong::Together, self.flat.name(source), name.clone());
                }
            }
        }
    }
}

fn wrong(end: End, level: u8, held: bool) -> Option<Wrong> {
    match end {
        End::Memory => Some(Wrong::Memory),
        End::Slice => Some(Wrong::Slice),
        End::Synchronizer if level > 0 => Some(Wrong::Synchronizer),
        End::Register if level == LEVELS - 1 => Some(Wrong::Logic),
        End::Control => Some(Wrong::Control),
        End::Register if !held => Some(Wrong::Unlisted),
        End::Synchronizer | End::Register => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::synth::lint::graph::crossings::*;
    use crate::synth::netlist::modules::Modules;

    /// Two clocks: `first_q` of `a`, and in `b` what `rest` says.
    fn found(rest: &str) -> Vec<String> {
        found_in("meshkv_async_register", rest)
    }

    /// The same in a module of this name.
    fn found_in(module: &str, rest: &str) -> Vec<String> {
        let text = format!(
            "module \\{module}\n  wire input 1 \\a\n  wire input 2 \\b\n  wire input 3 \\d\n  wire \\first_q\n  wire \\w\n  wire \\y\n  \
             attribute \\async_reg \"true\"\n  wire \\seen_q\n  wire \\held_q\n  cell $dff $1\n    connect \\CLK \\a\n    \
             connect \\D \\d\n    connect \\Q \\first_q\n  end\n{rest}end\nmodule \\top\n  wire input 1 \\a\n  \
             wire input 2 \\b\n  wire input 3 \\d\n  cell \\{module} \\gen[3].u_leaf\n    connect \\a \\a\n    \
             connect \\b \\b\n    connect \\d \\d\n  end\nend\n"
        );
        let modules = Modules::parse(&text).unwrap();
        let flat = Flat::new(&modules, "top").unwrap();
        check(&flat).into_iter().map(|message| message.text).collect()
    }

    fn register(from: &str, to: &str) -> String {
        format!("  cell $dff $2\n    connect \\CLK \\b\n    connect \\D \\{from}\n    connect \\Q \\{to}\n  end\n")
    }

    const CHOICE: &str =
        "  cell $mux $3\n    connect \\A \\d\n    connect \\B \\first_q\n    connect \\S \\d\n    connect \\Y \\w\n  end\n";
    const NOT: &str = "  cell $not $4\n    connect \\A \\first_q\n    connect \\Y \\y\n  end\n";

    #[test]
    fn a_register_may_sample_a_register_and_one_multiplexer() {
        assert_eq!(found(&register("first_q", "seen_q")), [""; 0]);
        assert_eq!(found(&register("first_q", "held_q")), [""; 0]);
        assert_eq!(found(&(CHOICE.to_owned() + &register("w", "held_q"))), [""; 0]);
        let said = found(&(NOT.to_owned() + &register("y", "held_q")));
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("gen[*].u_leaf/first_q, which crosses"), "{said:?}");
        assert!(said[0].contains("more than one multiplexer"), "{said:?}");
    }

    #[test]
    fn a_plain_register_samples_only_what_is_held_for_it() {
        let said = found_in("meshkv_front", &register("first_q", "held_q"));
        assert!(said.len() == 1 && said[0].contains("sampled by a plain register"), "{said:?}");
        assert_eq!(found_in("meshkv_front", &register("first_q", "seen_q")), [""; 0], "a synchronizer may");
    }

    #[test]
    fn several_bits_cross_together_only_in_gray_code() {
        let two = |register: &str| {
            format!(
                "  wire width 2 \\{register}\n  attribute \\async_reg \"true\"\n  wire width 2 \\both_q\n  cell $dff $8\n    \
                 connect \\CLK \\a\n    connect \\D {{ \\d \\d }}\n    connect \\Q \\{register}\n  end\n  cell $dff $9\n    \
                 connect \\CLK \\b\n    connect \\D \\{register}\n    connect \\Q \\both_q\n  end\n"
            )
        };
        assert_eq!(found_in("meshkv_async_pointer", &two("gray_q")), [""; 0]);
        for (module, register) in [("meshkv_async_pointer", "position_q"), ("meshkv_front", "gray_q")] {
            let said = found_in(module, &two(register));
            assert!(
                said.len() == 1 && said[0].contains("only a Gray code may cross so"),
                "{module}: {said:?}"
            );
        }
    }

    #[test]
    fn a_synchronizer_samples_registers_only() {
        for before in
            [CHOICE.to_owned() + &register("w", "seen_q"), NOT.to_owned() + &register("y", "seen_q")]
        {
            let said = found(&before);
            assert!(said.len() == 1 && said[0].contains("before a synchronizer"), "{said:?}");
        }
    }

    #[test]
    fn an_enable_or_a_reset_has_been_sampled() {
        for (kind, pin) in [("$dffe", "EN"), ("$sdff", "SRST"), ("$adff", "ARST")] {
            let register = |from: &str| {
                format!(
                    "  cell {kind} $7\n    connect \\CLK \\b\n    connect \\{pin} \\{from}\n    connect \\D \\d\n    \
                     connect \\Q \\y\n  end\n"
                )
            };
            let said = found(&register("first_q"));
            assert!(said.len() == 1 && said[0].contains("enables or resets"), "{kind}: {said:?}");
            let sampled = super::tests::register("first_q", "held_q") + &register("held_q");
            assert_eq!(found(&sampled), [""; 0], "{kind}");
        }
    }

    #[test]
    fn a_memory_is_no_end() {
        let memory = |data: &str| {
            format!("  cell $memwr_v2 $5\n    parameter \\MEMID \"\\\\mem\"\n    connect \\CLK \\b\n    connect \\DATA \\{data}\n    \
                     connect \\ADDR \\d\n    connect \\EN \\d\n  end\n")
        };
        let said = found(&(CHOICE.to_owned() + &memory("w")));
        assert!(said.len() == 1 && said[0].contains("ends in a memory"), "{said:?}");
        // Once it has been sampled it is of the memory's clock.
        assert_eq!(found(&(register("first_q", "held_q") + &memory("held_q"))), [""; 0]);
    }

    #[test]
    fn what_a_memory_gives_is_of_the_clock_that_writes_it() {
        let memory = "  cell $memwr_v2 $5\n    parameter \\MEMID \"\\\\mem\"\n    connect \\CLK \\a\n    connect \\DATA \\d\n    \
             connect \\ADDR \\d\n    connect \\EN \\d\n  end\n  cell $memrd $6\n    parameter \\MEMID \"\\\\mem\"\n    \
             connect \\CLK 1'x\n    connect \\EN 1'1\n    connect \\ADDR \\held_q\n    connect \\DATA \\y\n  end\n";
        assert_eq!(found(&(memory.to_owned() + &register("y", "held_q"))), [""; 0]);
        let said = found(
            &(memory.to_owned()
                + &register("y", "seen_q").replace("\\y\n", "\\w\n")
                + &NOT.replace("first_q", "y").replace("\\Y \\y", "\\Y \\w")),
        );
        assert!(said.len() == 1 && said[0].contains("before a synchronizer"), "{said:?}");
    }
}
