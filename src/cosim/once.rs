//! A change to generated C++: what stands between the registers of a piece and of its socket is evaluated once a period.

use crate::emit::{Dir, ModuleSpec};

/// Lets logic between the registers of a piece and of its socket be evaluated once a period.
///
/// Verilator evaluates it at both edges, since either may change what it follows from. What it
/// comes to after the rising edge nobody reads: at the next falling edge it is evaluated again, and then
/// registers take it. `generated` are the C++ sources; where they are not as expected, or an
/// output of the piece were such logic, they are left as they are and only slower.
pub(super) fn evaluate_once(generated: &mut [String], piece: &ModuleSpec) {
    let outputs = piece.ports.iter().filter(|p| p.dir == Dir::Output);
    let outputs: Vec<_> =
        outputs.flat_map(|p| ["->", "Ref.", "TOP."].map(|object| format!("{object}{}", p.name))).collect();
    let shown = generated.iter().flat_map(|text| logic_of(text)).any(|body| names_any(body, &outputs));
    let has_clock =
        generated.iter().any(|text| names_any(text, &["vlSelf->clk".into(), "vlSelfRef.clk".into()]));
    // All or nothing: what is evaluated once must not be read by what is not.
    let changed: Option<Vec<_>> = generated.iter().map(|text| at_falling_edge(text)).collect();
    if let (true, false, Some(changed)) = (has_clock, shown, changed) {
        generated.clone_from_slice(&changed);
    }
}

/// What Verilator calls a function of logic that follows from registers of several clocks.
const LOGIC: &str = "___nba_comb__";

/// The bodies of such functions.
fn logic_of(text: &str) -> Vec<&str> {
    let starts = text.match_indices(LOGIC).map(|(at, _)| at);
    let defined = starts.filter(|&at| text[at..].lines().next().is_some_and(|line| line.ends_with(") {")));
    defined.map(|at| text[at..].split("\n}\n").next().unwrap_or_default()).collect()
}

/// Whether one of the names stands there, and not as the beginning of a longer one.
fn names_any(text: &str, names: &[String]) -> bool {
    let longer = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    names.iter().any(|name| text.match_indices(name).any(|(at, _)| !longer(&text[at + name.len()..])))
}

/// Puts the clock in place of the conditions under which functions of logic are called. None if one is
/// called in another way.
fn at_falling_edge(text: &str) -> Option<String> {
    const CONDITION: &str = "if (!vlSelf->clk) ";
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(LOGIC) {
        let (before, after) = rest.split_at(at);
        done += before;
        if is_call(&done, after) {
            let start = done.rfind("if (")?;
            let body = start + done[start..].find('{')?;
            let (condition, calls) = done[start..].split_at(body - start);
            let known = condition == CONDITION || condition.contains("VnbaTriggered");
            if !known || condition.contains(';') || calls.contains('}') {
                return None;
            }
            done.replace_range(start..body, CONDITION);
        }
        done += LOGIC;
        rest = &after[LOGIC.len()..];
    }
    Some(done + rest)
}

/// Whether a function is called there, rather than declared, defined or named in a message.
fn is_call(before: &str, after: &str) -> bool {
    let begin = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let end = after.lines().next().unwrap_or_default();
    begin.starts_with('V') && !begin.contains(['(', ' ']) && end.ends_with(");")
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

    /// As Verilator 5.006 and 5.048 call them.
    const CALLS: [&str; 2] = [
        "    if ((vlSelf->__VnbaTriggered.at(0U) \n | vlSelf->__VnbaTriggered.at(1U))) {\n        \
         Vdut___024root___nba_comb__TOP__0(vlSelf);\n    }\n",
        "    if ((3ULL & vlSelfRef.__VnbaTriggered[0U])) {\n        \
         Vdut___024root___nba_comb__TOP__0(vlSelf);\n    }\n",
    ];

    fn definition(body: &str) -> String {
        format!("void Vdut___024root___nba_comb__TOP__0(Vdut___024root* vlSelf) {{\n    {body}\n}}\n")
    }

    #[test]
    fn logic_is_called_at_the_falling_edge() {
        for call in CALLS {
            let clock = "    prev = vlSelf->clk;\n".to_owned();
            let mut sources =
                [clock, definition("vlSelf->tx_n_valid_d = 1;"), format!("void f() {{\n{call}}}\n")];
            let before = sources.clone();
            evaluate_once(&mut sources, &tile());
            assert_eq!(sources[..2], before[..2]);
            let call = "    if (!vlSelf->clk) {\n        Vdut___024root___nba_comb__TOP__0(vlSelf);\n    }\n";
            assert_eq!(sources[2], format!("void f() {{\n{call}}}\n"));
        }
    }

    #[test]
    fn calls_under_one_condition_are_moved_together() {
        let two = "if (vlSelf->__VnbaTriggered.at(1U)) {\n A___nba_comb__0(vlSelf);\n B___nba_comb__1(vlSelf);\n}\n"
            .replace("A_", "Vdut_a_")
            .replace("B_", "Vdut_b_");
        let moved = two.replace("if (vlSelf->__VnbaTriggered.at(1U)) ", "if (!vlSelf->clk) ");
        assert_eq!(at_falling_edge(&two), Some(moved));
    }

    #[test]
    fn what_is_not_as_expected_is_left_as_it_is() {
        let (clock, hidden) = ("vlSelf->clk;\n".to_owned(), definition("vlSelf->a = 1;"));
        for sources in [
            // An output that is logic, by either way to name it.
            [clock.clone(), definition("vlSelf->tx_n_valid = 1;"), CALLS[0].to_owned()],
            [clock.clone(), definition("vlSelfRef.vc_busy = 1;"), CALLS[1].to_owned()],
            // No clock of this name, and a call without a condition or under another.
            [String::new(), hidden.clone(), CALLS[0].to_owned()],
            [
                clock.clone(),
                hidden.clone(),
                "    a();\n    Vdut___024root___nba_comb__TOP__0(vlSelf);\n".to_owned(),
            ],
            [clock, hidden, CALLS[1].replace("__VnbaTriggered", "__VicoTriggered")],
        ] {
            let mut after = sources.clone();
            evaluate_once(&mut after, &tile());
            assert_eq!(after, sources);
        }
    }
}
