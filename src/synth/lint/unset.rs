//! Values that nothing has set, in a simulator with four states: a shift by an unknown amount is unknown in every bit, even
//! where a zero is shifted. An AND or a choice must mask it at once; one that comes after other logic masks it only where
//! its other operand happens to be zero.
//!
//! Registers without a reset and memories hold such values until they are written. The check finds shifts by one of them
//! that reach a register which a reset sets, an enable, or an address or an enable of a memory.

use crate::synth::lint::graph::crossings::any_place;
use crate::synth::lint::graph::flat::{Cell, Flat};
use crate::synth::lint::graph::summary::{role, Role};
use crate::synth::lint::messages::{Message, Severity};
use std::collections::BTreeMap;

/// How far an unset value has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Nowhere,
    /// It is as its register has it, or was inverted or selected by.
    Bare,
    /// It was the amount of a shift: the next cell must mask the result.
    Shifted,
    /// The next cell did not mask it.
    Late,
}

/// Checks every shift.
pub fn check(flat: &Flat) -> Vec<Message> {
    let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
    Reached::from(flat).wrong(&mut |source, end| {
        *found.entry((any_place(&source), any_place(&end))).or_default() += 1;
    });
    let message = |((source, end), bits): ((String, String), usize)| {
        let many = if bits == 1 { String::new() } else { format!(", {bits} times") };
        let text = format!(
            "{source}, which no reset sets, is the amount of a shift that decides {end}{many}: in a simulator with four \
             states that is X; mask the shift itself with an AND or a choice, or reset the amount"
        );
        Message { severity: Severity::Error, text }
    };
    found.into_iter().map(message).collect()
}

/// The nets that unset values reach.
struct Reached<'a> {
    flat: &'a Flat<'a>,
    /// Of each net: the worst that reaches it, and its register.
    stage: Vec<Stage>,
    source: Vec<u32>,
}

impl<'a> Reached<'a> {
    fn from(flat: &'a Flat<'a>) -> Reached<'a> {
        let nets = flat.nets();
        let mut reached = Reached { flat, stage: vec![Stage::Nowhere; nets], source: vec![0; nets] };
        let mut waiting = Vec::new();
        for (net, source) in flat.unset() {
            reached.reach(net, Stage::Bare, source, &mut waiting);
        }
        while let Some(net) = waiting.pop() {
            for (cell, pin) in flat.loads(net) {
                let (stage, source) = (reached.stage[net as usize], reached.source[net as usize]);
                let Some(next) = beyond(flat, cell, pin, stage) else { continue };
                flat.through(cell, pin, &mut |out, _| reached.reach(out, next, source, &mut waiting));
            }
        }
        reached
    }

    fn reach(&mut self, net: u32, stage: Stage, source: u32, waiting: &mut Vec<u32>) {
        let at = net as usize;
        if stage > self.stage[at] {
            (self.stage[at], self.source[at]) = (stage, source);
            waiting.push(net);
        }
    }

    /// Passes every end that an unmasked shift decides to `tell`, with the names of the amount and of the end.
    fn wrong(&self, tell: &mut dyn FnMut(String, String)) {
        for (net, &stage) in self.stage.iter().enumerate().filter(|(_, stage)| **stage >= Stage::Shifted) {
            for (cell, pin) in self.flat.loads(net as u32) {
                if is_wrong(self.flat.pin(cell, pin), stage) {
                    tell(self.flat.name(self.source[net]), self.flat.name_of_cell(cell));
                }
            }
        }
    }
}

/// Stage of the output of a cell of logic that an unset value enters; `None` where it is masked or sampled.
fn beyond(flat: &Flat, cell: Cell, pin: u32, stage: Stage) -> Option<Stage> {
    let (kind, port) = flat.pin(cell, pin);
    match (kind, port) {
        ("$and" | "$logic_and", _) if stage < Stage::Late => None,
        ("$mux" | "$pmux", "A" | "B") => None,
        ("$shl" | "$shr" | "$sshl" | "$sshr", "B") => Some(stage.max(Stage::Shifted)),
        (kind, _) if kind.starts_with("$mem") => None,
        _ if stage == Stage::Shifted => Some(Stage::Late),
        _ => Some(stage),
    }
}

fn is_wrong((kind, port): (&str, &str), stage: Stage) -> bool {
    if kind.starts_with("$mem") {
        return port != "DATA";
    }
    match role(kind, port) {
        Role::Enable | Role::Reset => true,
        Role::Data => stage == Stage::Late && !matches!(kind, "$dff" | "$dffe"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::synth::lint::unset::*;
    use crate::synth::netlist::modules::Modules;

    fn cell(kind: &str, number: usize, ports: &[(&str, &str)]) -> String {
        let connect = |(port, net): &(&str, &str)| format!("    connect \\{port} \\{net}\n");
        format!("  cell {kind} ${number}\n{}  end\n", ports.iter().map(connect).collect::<String>())
    }

    /// A shift of `d` by `amount_q` to `shifted`, and `rest`.
    fn found(reset: bool, rest: &[String]) -> Vec<String> {
        let wires = ["clk", "rst", "d", "amount_q", "shifted", "w", "y", "state_q"];
        let wires: String = wires.iter().map(|name| format!("  wire \\{name}\n")).collect();
        let kind = if reset { "$sdff" } else { "$dff" };
        let amount = cell(kind, 1, &[("CLK", "clk"), ("SRST", "rst"), ("D", "d"), ("Q", "amount_q")]);
        let amount = if reset { amount } else { amount.replace("    connect \\SRST \\rst\n", "") };
        let shift = cell("$shl", 2, &[("A", "d"), ("B", "amount_q"), ("Y", "shifted")]);
        let text = format!("module \\top\n{wires}{amount}{shift}{}end\n", rest.concat());
        let modules = Modules::parse(&text).unwrap();
        check(&Flat::new(&modules, "top").unwrap()).into_iter().map(|message| message.text).collect()
    }

    fn state(d: &str) -> String {
        cell("$sdff", 9, &[("CLK", "clk"), ("SRST", "rst"), ("D", d), ("Q", "state_q")])
    }

    #[test]
    fn a_shift_that_is_masked_late_is_found() {
        let not = cell("$not", 3, &[("A", "shifted"), ("Y", "w")]);
        let and = cell("$and", 4, &[("A", "w"), ("B", "d"), ("Y", "y")]);
        let late = [not, and, state("y")];
        let said = found(false, &late);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("amount_q, which no reset sets") && said[0].contains("decides state_q"));
        assert_eq!(found(true, &late), [""; 0], "a reset sets it");
    }

    #[test]
    fn an_and_or_a_choice_masks_it_at_once() {
        let and = cell("$and", 4, &[("A", "shifted"), ("B", "d"), ("Y", "y")]);
        assert_eq!(found(false, &[and, state("y")]), [""; 0]);
        let choice = cell("$mux", 4, &[("A", "d"), ("B", "shifted"), ("S", "d"), ("Y", "y")]);
        assert_eq!(found(false, &[choice, state("y")]), [""; 0]);
        let data = cell("$dff", 9, &[("CLK", "clk"), ("D", "shifted"), ("Q", "state_q")]);
        assert_eq!(found(false, &[data]), [""; 0], "data may be X");
    }

    #[test]
    fn what_it_enables_or_where_it_points_is_found() {
        let enable = cell("$dffe", 9, &[("CLK", "clk"), ("EN", "shifted"), ("D", "d"), ("Q", "state_q")]);
        assert_eq!(found(false, &[enable]).len(), 1);
        let memory = |address: &str, data: &str| {
            cell("$memwr_v2", 5, &[("CLK", "clk"), ("DATA", data), ("ADDR", address), ("EN", "d")])
                .replace("$5\n", "$5\n    parameter \\MEMID \"\\\\mem\"\n")
        };
        assert_eq!(found(false, &[memory("shifted", "d")]).len(), 1);
        assert_eq!(found(false, &[memory("d", "shifted")]), [""; 0]);
    }
}
