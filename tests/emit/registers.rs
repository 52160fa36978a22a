//! Every register of the emitted Verilog ends in `_q`, so that a reader tells it from a wire wherever it is used.

use meshkv::design::Design;
use meshkv::emit::emit;
use std::collections::BTreeSet;
use std::path::Path;

/// Words and signs behind which a statement begins.
const BEFORE: [&str; 6] = [";", ")", ":", "begin", "end", "else"];

/// Splits a text at its last word: what is before it, and the word.
fn last_word(text: &str) -> (&str, &str) {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let at = text.rfind(|c| !word(c)).map_or(0, |at| at + 1);
    text.split_at(at)
}

/// A text without the indices at its end.
fn without_indices(mut text: &str) -> &str {
    while text.ends_with(']') {
        let mut depth = 0;
        let opens = text.rfind(|c| {
            depth += i32::from(c == ']') - i32::from(c == '[');
            depth == 0
        });
        text = text[..opens.expect("an index is opened")].trim_end();
    }
    text
}

/// Names that a source assigns with `<=` where a statement begins, but for memories and counters of loops.
fn registers(text: &str) -> BTreeSet<String> {
    let lines: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap()).collect();
    let other = |name: &str| {
        let memory = |line: &str| line.contains("reg ") && line.contains(&format!(" {name}["));
        let counter = |line: &str| line.trim() == format!("integer {name};");
        lines.iter().any(|line| memory(line) || counter(line))
    };
    let text = lines.join(" ");
    let assigned = text.match_indices("<=").filter_map(|(at, _)| {
        let (before, name) = last_word(without_indices(text[..at].trim_end()));
        let begins = BEFORE.iter().any(|sign| before.trim_end().ends_with(sign));
        (begins && !name.is_empty()).then(|| name.to_owned())
    });
    assigned.filter(|name| !other(name)).collect()
}

#[test]
fn registers_end_in_q() {
    for name in ["tiny", "cent", "grow_4x4", "parity_3x3", "u280_4x8_strided", "u280_shell"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
        let files = emit(&Design::load(&path).unwrap().0).unwrap();
        let sources = files.iter().filter(|file| file.path.starts_with("rtl/") && file.path.ends_with(".v"));
        let mut found = 0;
        for file in sources {
            let all = registers(&file.text);
            found += all.len();
            let others: Vec<_> = all.iter().filter(|register| !register.ends_with("_q")).collect();
            assert!(others.is_empty(), "{name}: {}: {others:?}", file.path);
        }
        assert!(found > 500, "{name}: {found} registers");
    }
}

#[test]
fn a_register_is_found_wherever_it_is_assigned() {
    let text = "\
(* ram_style = \"block\" *) reg [7:0] ram[0:3];
always @(posedge clk) begin
    if (a <= b) plain <= c <= d;  // other <= x;
    else slots[n[1]*W+:W] <= d;
    ram[at] <= d;
    case (s) 2'd0: third <= 1'b0; endcase
end
wire less = left <= right;
";
    assert_eq!(registers(text), ["plain", "slots", "third"].map(str::to_owned).into());
}
