//! Patches Verilator's generated C++ so that logic between wrapper and piece is evaluated once per
//! cycle instead of at both edges.

use crate::emit::{Dir, ModuleSpec};

/// Makes logic between the registers of a wrapper and its piece evaluate only at the falling edge.
///
/// Verilator evaluates this logic at both edges, since its inputs may change at either. The result
/// after the rising edge is never read: the logic is evaluated again at the next falling edge
/// before registers take it. `generated` are the C++ sources. They stay unchanged, and only slower,
/// if they do not have the expected form or if an output of the piece is such logic.
pub(in crate::cosim) fn evaluate_once(generated: &mut [String], piece: &ModuleSpec) {
    let has_clock =
        generated.iter().any(|text| names_any(text, &["vlSelf->clk".into(), "vlSelfRef.clk".into()]));
    let place = generated.iter().position(|text| evaluation(text).is_some());
    let (Some(place), true) = (place, has_clock) else { return };
    let Some((text, logic)) = evaluation(&generated[place]).and_then(at_falling_edge) else { return };
    let outputs = piece.ports.iter().filter(|p| p.dir == Dir::Output);
    let outputs: Vec<_> =
        outputs.flat_map(|p| ["->", "Ref.", "TOP."].map(|object| format!("{object}{}", p.name))).collect();
    let functions = generated.iter().flat_map(|text| logic_of(text));
    if !functions.chain([logic.as_str()]).any(|body| names_any(body, &outputs)) {
        generated[place] = text;
    }
}

/// Part of the name of Verilator's function that updates all state after an edge.
const EVALUATION: &str = "___eval_nba(";

/// Part of the name of a function for logic that depends on registers of several clocks. Verilator
/// inlines small ones at the call.
const LOGIC: &str = "___nba_comb__";

/// Splits a text at the body of the evaluation function.
fn evaluation(text: &str) -> Option<(&str, &str)> {
    let calls = text.match_indices(EVALUATION).map(|(at, _)| at);
    let line = |at: usize| text[at..].lines().next().unwrap_or_default();
    let head = calls.filter(|&at| line(at).ends_with(") {")).map(|at| at + line(at).len() + 1).next()?;
    Some(text.split_at(head))
}

/// Bodies of the functions of logic.
fn logic_of(text: &str) -> Vec<&str> {
    let starts = text.match_indices(LOGIC).map(|(at, _)| at);
    let defined = starts.filter(|&at| text[at..].lines().next().is_some_and(|line| line.ends_with(") {")));
    defined.map(|at| text[at..].split("\n}\n").next().unwrap_or_default()).collect()
}

/// True if the text contains one of the names, and not only as the beginning of a longer one.
fn names_any(text: &str, names: &[String]) -> bool {
    let longer = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    names.iter().any(|name| text.match_indices(name).any(|(at, _)| !longer(&text[at + name.len()..])))
}

/// Replaces the conditions of logic that depends on several clocks by the falling clock. It
/// replaces all or none, since logic that runs once must not be read by logic that runs twice.
/// Returns the text and the logic that moved.
fn at_falling_edge((head, rest): (&str, &str)) -> Option<(String, String)> {
    let (body, tail) = rest.split_at(rest.find("\n}\n")? + 1);
    let (mut text, mut logic) = (head.to_owned(), String::new());
    let mut lines = body.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let mut condition = line.to_owned();
        let is_block = line.starts_with("    if (") && !line.starts_with("    if (false");
        while is_block && !condition.trim_end().ends_with('{') {
            condition += lines.next()?;
        }
        let mut block = String::new();
        while is_block && block.lines().next_back() != Some("    }") {
            block += lines.next()?;
        }
        if is_block && triggers(&condition)? > 1 {
            condition = "    if (!vlSelf->clk) {\n".to_owned();
            logic += &block;
        } else if names_logic(&condition) || names_logic(&block) {
            return None;
        }
        text += &condition;
        text += &block;
    }
    Some((text + tail, logic))
}

/// True if the text calls a function of logic, and does not only name it in a message.
fn names_logic(text: &str) -> bool {
    text.lines().any(|line| line.contains(LOGIC) && !line.contains('"'))
}

/// Number of clocks that a condition tests, one by one or by a mask.
fn triggers(condition: &str) -> Option<u32> {
    match condition.split_once("ULL &") {
        Some((mask, _)) => {
            let digits = mask.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
            let number =
                digits.strip_prefix("0x").map_or_else(|| digits.parse(), |hex| u64::from_str_radix(hex, 16));
            condition.contains("VnbaTriggered").then_some(number.ok()?.count_ones())
        }
        None => Some(condition.matches("VnbaTriggered").count() as u32).filter(|&count| count > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::design::Design;
    use crate::emit::{modules, ROUTER};

    fn tile() -> ModuleSpec {
        let design = Design::from_config("test", &Config::default()).expect("the default is legal");
        modules(&design).into_iter().find(|m| m.name == ROUTER).expect("every design has a router")
    }

    const CALL: &str = " {\n        Vdut___024root___nba_comb__TOP__0(vlSelf);\n    }\n";
    const REGISTERS: &str = "    if ((4ULL & vlSelfRef.__VnbaTriggered[0U])) {\n        Vdut___024root___nba_sequent__TOP__0(vlSelf);\n    }\n";

    /// Conditions as Verilator 5.006 and 5.048 write them.
    const CONDITIONS: [&str; 3] = [
        "    if ((vlSelf->__VnbaTriggered.at(0U) \n | vlSelf->__VnbaTriggered.at(1U)))",
        "    if ((3ULL & vlSelfRef.__VnbaTriggered[0U]))",
        "    if ((0x0000000000000005ULL & vlSelfRef.__VnbaTriggered[0U]))",
    ];

    fn evaluation_of(body: &str) -> String {
        format!(
            "void f();\nvoid Vdut___024root___eval_nba(Vdut___024root* vlSelf) {{\n    if (false && vlSelf) {{}}\n{body}}}\nvoid g();\n"
        )
    }

    fn definition(body: &str) -> String {
        format!("void Vdut___024root___nba_comb__TOP__0(Vdut___024root* vlSelf) {{\n    {body}\n}}\n")
    }

    #[test]
    fn logic_is_evaluated_at_the_falling_edge() {
        for condition in CONDITIONS {
            let clock = "    prev = vlSelf->clk;\n".to_owned();
            let body = format!("{REGISTERS}{condition}{CALL}{REGISTERS}{condition}{CALL}{REGISTERS}");
            let mut sources = [clock, definition("vlSelf->tx_n_valid_d = 1;"), evaluation_of(&body)];
            let before = sources.clone();
            evaluate_once(&mut sources, &tile());
            assert_eq!(sources[..2], before[..2]);
            assert_eq!(sources[2], before[2].replace(condition, "    if (!vlSelf->clk)"));
        }
    }

    #[test]
    fn logic_that_is_written_out_is_moved_too() {
        let inside = " {\n        if (vlSelf->a) {\n            vlSelf->b = 1;\n        }\n    }\n";
        let body = format!("{}{inside}{}{CALL}", CONDITIONS[1], CONDITIONS[1]);
        let mut sources = ["vlSelf->clk;\n".to_owned(), evaluation_of(&body)];
        let moved = sources[1].replace(CONDITIONS[1], "    if (!vlSelf->clk)");
        evaluate_once(&mut sources, &tile());
        assert_eq!(sources[1], moved);
    }

    #[test]
    fn what_is_not_as_expected_is_left_as_it_is() {
        let (clock, hidden) = ("vlSelf->clk;\n".to_owned(), definition("vlSelf->a = 1;"));
        let calls = evaluation_of(&format!("{}{CALL}", CONDITIONS[1]));
        for sources in [
            // An output that is logic, in each way to name it, in a function or inlined.
            [clock.clone(), definition("vlSelf->tx_n_valid = 1;"), calls.clone()],
            [clock.clone(), definition("vlSelfRef.vc_busy = 1;"), calls.clone()],
            [clock.clone(), definition("vlSymsp->TOP.vc_busy = 1;"), calls.clone()],
            [
                clock.clone(),
                hidden.clone(),
                evaluation_of(&format!("{} {{\n        vlSelf->vc_busy = 1;\n    }}\n", CONDITIONS[0])),
            ],
            // No clock of this name; a call without a condition; a call under another condition.
            [String::new(), hidden.clone(), calls.clone()],
            [
                clock.clone(),
                hidden.clone(),
                evaluation_of(&format!(
                    "{}{CALL}    Vdut___024root___nba_comb__TOP__1(vlSelf);\n",
                    CONDITIONS[1]
                )),
            ],
            [clock.clone(), hidden.clone(), evaluation_of(&format!("    if (vlSelf->a){CALL}"))],
            [clock, hidden, evaluation_of(&format!("    if ((1ULL & vlSelfRef.__VnbaTriggered[0U])){CALL}"))],
        ] {
            let mut after = sources.clone();
            evaluate_once(&mut after, &tile());
            assert_eq!(after, sources);
        }
    }
}
