//! Tests of the changes, of the guarded build, and of what survives.

use super::change::curated::Curated;
use super::change::guard::plain;
use super::change::mutant::{mutants, Mutant, Wanted};
use super::change::operators::{edits, Edit};
use super::change::verilog::{Reading, Span};
use super::equal::unequal;
use super::session::{Outcome, Proof};
use super::summary::{Known, Summary};
use super::{checks, guarded, under_check};
use crate::config::Config;
use crate::cosim::build::toolchain::Toolchain;
use crate::cosim::build::verilate::{build, BuildOptions};
use crate::cosim::build::{BuildForm, Library, RunLength};
use crate::design::Design;
use crate::emit::{emit, SourceFile};
use crate::tools;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

const SMALL: &str = "\
// a & b in a comment
module small #(parameter WIDTH = 4, parameter HALF = WIDTH / 2) (
    input wire clk, input wire [WIDTH-1:0] a, output wire y
);
    localparam LAST = WIDTH - 1;
    (* keep = \"a & b\" *) reg [WIDTH-1:0] b_q;
    wire odd = a[0] ^ b_q[LAST];
    assign y = odd ? &a : 1'b0;
    always @(posedge clk) begin
        if (odd) b_q <= a + 1'b1;
    end
`ifndef SYNTHESIS
    always @(posedge clk) if (a & b) $stop;
`endif
endmodule
";

fn listed(module: &str, text: &str) -> Vec<Mutant> {
    let path = format!("rtl/network/{module}.v");
    let reading = Reading::of(text).expect("it is read");
    let entries = Curated::read().expect("the list is read").mutants;
    let of = entries.iter().filter(|entry| entry.module == module);
    of.map(|entry| entry.edit(text, &reading).expect("it is there"))
        .zip(1..)
        .map(|(edit, number)| Mutant::of_edit(number, (module, &path), text, &edit))
        .collect()
}

#[test]
fn operators_change_expressions_and_statements_and_nothing_else() {
    let reading = Reading::of(SMALL).unwrap();
    let found: Vec<(String, String)> =
        edits(SMALL, &reading).iter().map(|e| (e.span.of(SMALL).to_owned(), e.mutated.clone())).collect();
    let has = |original: &str, mutated: &str| {
        assert!(
            found.contains(&(original.to_owned(), mutated.to_owned())),
            "{original} -> {mutated}: {found:?}"
        );
    };
    has("a[0] ^ b_q[LAST]", "(a[0]) | (b_q[LAST])");
    has("a[0] ^ b_q[LAST]", "1'b0");
    has("odd ? &a : 1'b0", "odd ? (1'b0) : (&a)");
    has("&a", "(|(a))");
    has("odd", "!(odd)");
    has("a + 1'b1", "(a) - (1'b1)");
    has("b_q <= a + 1'b1;", ";");
    for untouched in ["WIDTH / 2", "WIDTH - 1", "LAST", "a & b", "\"a & b\""] {
        assert!(found.iter().all(|(original, _)| original != untouched), "{untouched}: {found:?}");
    }
}

#[test]
fn a_text_that_is_not_read_is_named_by_its_line() {
    let why = Reading::of("module m (input wire a);\n    assign y = a +;\nendmodule\n").unwrap_err();
    assert_eq!(why.to_string(), "line 2: `;` begins no expression");
}

fn named(name: &str) -> Design {
    let path = format!("{}/configs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    Design::load(Path::new(&path)).unwrap_or_else(|report| panic!("{report}")).0
}

#[test]
fn every_module_is_read_and_every_entry_of_the_list_is_somewhere() {
    let mut somewhere = BTreeSet::new();
    for name in ["tiny", "mutate_two_stages", "mutate_three_stages"] {
        let design = named(name);
        let files = under_check(&emit(&design).unwrap());
        let wanted = Wanted { count: u32::MAX, seed: 1, module: String::new(), listed: true };
        let all =
            mutants(&[(&design, &files)], &wanted).unwrap_or_else(|why| panic!("{name}: {why:#}")).remove(0);
        let mut by_block: BTreeMap<&str, usize> = BTreeMap::new();
        for mutant in &all {
            *by_block.entry(&mutant.block).or_default() += 1;
            if mutant.listed {
                somewhere.insert((mutant.module.clone(), mutant.kind.clone()));
            }
        }
        for block in ["common", "network", "mare", "takv", "reduce", "pad", "device"] {
            assert!(by_block.get(block).is_some_and(|count| *count > 100), "{name}: {by_block:?}");
        }
    }
    for entry in Curated::read().unwrap().mutants {
        assert!(
            somewhere.contains(&(entry.module.clone(), entry.what.clone())),
            "{}: {}",
            entry.module,
            entry.what
        );
    }
}

#[test]
fn a_draw_follows_from_its_seed_and_a_longer_one_begins_with_it() {
    let design = named("tiny");
    let files = emit(&design).unwrap();
    let of = |count, seed| {
        let wanted = Wanted { count, seed, module: "duplicate_filter".to_owned(), listed: false };
        mutants(&[(&design, &files)], &wanted).unwrap().remove(0)
    };
    assert_eq!(of(5, 1), of(9, 1)[..5]);
    assert_ne!(of(5, 1), of(5, 2));
}

#[test]
fn a_mutant_has_one_number_in_all_designs_whose_text_has_it() {
    let designs = ["tiny", "mutate_two_stages"].map(named);
    let files = designs.each_ref().map(|design| under_check(&emit(design).unwrap()));
    let of = |count| {
        let wanted = Wanted { count, seed: 3, module: "duplicate_filter".to_owned(), listed: true };
        let texts: Vec<_> = designs.iter().zip(&files).map(|(d, f)| (d, f.as_slice())).collect();
        mutants(&texts, &wanted).unwrap()
    };
    let [one, other] = &of(40)[..] else { panic!("a list for each design") };
    let numbers = |of: &[Mutant]| of.iter().map(|m| m.number).collect::<BTreeSet<_>>();
    let (both, all) = (&numbers(one) & &numbers(other), &numbers(one) | &numbers(other));
    assert_eq!(all, (1..=all.len() as u32).collect());
    assert!(both.len() > 30, "{both:?}");
    for mutant in one.iter().filter(|mutant| both.contains(&mutant.number)) {
        let same = other.iter().find(|other| other.number == mutant.number).unwrap();
        assert_eq!((&mutant.text, &mutant.mutated, &mutant.kind), (&same.text, &same.mutated, &same.kind));
    }
}

fn small() -> Design {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows) = (2, 2);
    (config.noc.flit_width, config.noc.vc_depth) = (64, 4);
    (config.kv.segment_tokens, config.pe.head_dim) = (8, 32);
    (config.model.layers, config.model.max_tokens) = (2, 256);
    Design::from_config("small", &config).unwrap()
}

fn library(files: &[SourceFile], design: &Design) -> Library {
    let verilator = tools::verilator().expect("tests need Verilator; run `meshkv doctor`");
    let toolchain = Toolchain::probe(verilator.program(), Toolchain::default_cxx()).unwrap();
    let cache = std::env::temp_dir().join("meshkv-mutate-tests");
    let (form, run) = (BuildForm::OneRouter, RunLength::Brief);
    let options = BuildOptions { toolchain, form, run, cache_dir: Some(cache) };
    build(files, design, &options, &mut |_| {}).unwrap()
}

#[test]
fn of_one_build_the_design_passes_a_fault_is_found_and_a_rewriting_survives() {
    let design = small();
    let files = under_check(&emit(&design).unwrap());
    let path = "rtl/network/meshkv_class_turn.v";
    let file = files.iter().find(|file| file.path == path).unwrap();
    let mut all = listed("meshkv_class_turn", &file.text);
    // A fault that is none, within the text of another.
    let within = &all[0].clone();
    let rewritten = Mutant { number: 3, mutated: format!("({})", within.original), ..within.clone() };
    all.push(rewritten);
    let library = library(&guarded(&files, &all), &design);
    let mutants = library.mutants().expect("it is guarded");
    let check = checks::checks(&design).into_iter().find(|check| check.name == "network").unwrap();
    let found = |number: u32| {
        let bed = checks::Bed::new(&design, &library, check.name);
        mutants.choose(number);
        ((check.run)(&bed), mutants.differed())
    };
    assert!((1..=3).all(|number| mutants.is_present(number)));
    assert!(!mutants.is_present(4) && !mutants.is_present(1 << 20));
    assert_eq!(found(0), (Ok(()), false));
    let reached = mutants.reached();
    assert!(reached.contains(&1) && !reached.contains(&3), "{reached:?}");
    let (what, differed) = found(1);
    assert!(what.is_err_and(|what| what.contains("model")) && differed);
    assert_eq!(found(3), (Ok(()), false));
    assert_eq!(found(0), (Ok(()), false), "the choice of before has left nothing");
}

#[test]
fn yosys_proves_a_rewriting_equal_and_a_fault_not() {
    let files = under_check(&emit(&small()).unwrap());
    let path = "rtl/network/meshkv_class_turn.v";
    let file = files.iter().find(|file| file.path == path).unwrap();
    let fault = listed("meshkv_class_turn", &file.text).swap_remove(0);
    let rewritten = Mutant { mutated: format!("~~({})", fault.original), ..fault.clone() };
    assert!(plain(&file.text, &rewritten.edit()).contains("~~("));
    let yosys = tools::find(&tools::SYNTHESIS).expect("tests need Yosys; run `meshkv doctor`");
    let of = |mutant: &Mutant| {
        unequal(&yosys.program(), &files, mutant, Duration::from_secs(120), &|| false).unwrap()
    };
    assert_eq!(of(&rewritten), None);
    assert!(of(&fault).is_some());
}

const OUTER: &str = "// One around another.
module meshkv_outer (
    input  wire clk,
    input  wire a,
    output wire y
);
    reg a_q;
    always @(posedge clk) a_q <= a;
    meshkv_inner u_inner (.which(2'd2), .clk(clk), .s_data(a_q), .m_data(y));
endmodule
";

const INNER: &str = "// What is not read.
module meshkv_inner (
    input  wire [1:0] which,
    input  wire       clk,
    input  wire       s_data,
    output wire       m_data
);
    assign m_data = 1'b0 & s_data;
endmodule
";

#[test]
fn what_goes_into_a_module_within_must_be_equal_whatever_the_module_does() {
    let file = |name: &str, text: &str| SourceFile { path: format!("rtl/x/{name}.v"), text: text.to_owned() };
    let files = [file("meshkv_outer", OUTER), file("meshkv_inner", INNER)];
    let yosys = tools::find(&tools::SYNTHESIS).expect("tests need Yosys; run `meshkv doctor`");
    let put = |mutated: &str| {
        let start = OUTER.find("a_q)").expect("it is there");
        let span = Span { start, end: start + "a_q".len() };
        let edit = Edit { span, mutated: mutated.to_owned(), operator: "", statement: false };
        let mutant = Mutant::of_edit(1, ("meshkv_outer", &files[0].path), OUTER, &edit);
        unequal(&yosys.program(), &files, &mutant, Duration::from_secs(120), &|| false).unwrap()
    };
    assert_eq!(put("~~a_q"), None);
    // Where a constant comes first, too: no register waits for a clock that never comes.
    let why = put("~a_q").expect("the input differs");
    assert!(why.contains("unproven"), "{why}");
}

#[test]
fn a_mutant_is_found_if_one_design_finds_it_and_equal_only_if_it_is_in_all() {
    let span = Span { start: OUTER.find("a_q;").unwrap(), end: OUTER.find("a_q;").unwrap() + 3 };
    let edit = Edit { span, mutated: "a".to_owned(), operator: "index", statement: false };
    let mutants: Vec<Mutant> =
        (1..=4).map(|number| Mutant::of_edit(number, ("meshkv_outer", "o.v"), OUTER, &edit)).collect();
    let outcome = |number: u32, found: Option<&str>| Outcome {
        number,
        found: found.map(str::to_owned),
        what: String::new(),
        differed: false,
        absent: number == 4,
        seconds: 0.0,
    };
    let equal = |number| Proof { number, equal: true, breaks: None, why: String::new() };
    let designs = [
        (
            vec![outcome(1, None), outcome(2, None), outcome(3, None), outcome(4, None)],
            vec![equal(2), equal(3)],
        ),
        (
            vec![outcome(1, Some("fetch")), outcome(2, None), outcome(3, None), outcome(4, None)],
            vec![equal(2)],
        ),
    ];
    let known = designs.map(|(outcomes, proofs)| Known { mutants: &mutants, outcomes, proofs });
    let all = Summary::of(&known).unwrap().all;
    assert_eq!((all.tried, all.found, all.equal, all.survived, all.absent), (4, 1, 1, 1, 1));
}
