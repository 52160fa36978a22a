//! Yosys proves that the printed body of every kernel is equivalent to rust-hdl's own Verilog. Both are built at
//! small widths and joined in a miter, and SAT finds no input that distinguishes them. Corrupted bodies must be
//! distinguished, or the proof would prove nothing.
//!
//! Yosys is needed; without it these tests fail. `YOSYS` names another executable.

use meshkv::kernels::{self, Kernel};
use rust_hdl::core::block::Block;
use rust_hdl::prelude::*;
use std::process::Command;

/// The result of SAT for two circuits.
#[derive(Debug, PartialEq)]
enum Verdict {
    Equal,
    Different,
}

/// Declarations of a shell, at the widths and numbers of a rust-hdl block.
#[derive(Default)]
struct Shell {
    ports: Vec<String>,
    constants: Vec<String>,
}

impl Probe for Shell {
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let range = if atom.bits() == 1 { String::new() } else { format!("[{}:0] ", atom.bits() - 1) };
        match atom.kind() {
            AtomKind::InputParameter => self.ports.push(format!("    input  wire {range}{name}")),
            AtomKind::OutputParameter => self.ports.push(format!("    output reg  {range}{name}")),
            AtomKind::Constant => {
                // Without a width, as a shell's parameters are: 32 bits, wider than any signal.
                let literal = format!("{:x}", atom.verilog());
                let digits = literal.split_once('h').expect("a hexadecimal literal").1;
                let value = u64::from_str_radix(digits, 16).expect("a small constant");
                self.constants.push(format!("    localparam {} = {value};\n", name.to_uppercase()));
            }
            kind => panic!("{name} is {kind:?}"),
        }
    }
}

fn in_shell(body: &str, block: &impl Block) -> String {
    let mut shell = Shell::default();
    block.accept("shell", &mut shell);
    format!(
        "module shell (\n{}\n);\n{}    always @(*) begin\n{body}\n    end\nendmodule\n",
        shell.ports.join(",\n"),
        shell.constants.concat(),
    )
}

/// Compares `body` in a shell with the Verilog that rust-hdl makes of `block`.
fn compare(body: &str, block: &impl Block) -> Verdict {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("gold.v"), generate_verilog_unchecked(block)).expect("gold.v");
    std::fs::write(folder.path().join("gate.v"), in_shell(body, block)).expect("gate.v");
    let script = "read_verilog gold.v gate.v; proc; check -assert; \
                  miter -equiv -flatten -make_outputs top shell miter; \
                  sat -verify -prove trigger 0 -set-def-inputs -show-ports miter";

    let yosys = std::env::var("YOSYS").unwrap_or_else(|_| "yosys".to_owned());
    let output = Command::new(&yosys).args(["-p", script]).current_dir(folder.path()).output();
    let output = output
        .unwrap_or_else(|e| panic!("{yosys}: {e}; the proof needs Yosys (apt install yosys, or set YOSYS)"));
    let log = [output.stdout, output.stderr].concat();
    let log = String::from_utf8_lossy(&log);
    // The log decides, not the exit code alone: a syntax error is neither verdict.
    match (output.status.success(), log.contains("SUCCESS!"), log.contains("proof did fail!")) {
        (true, true, false) => Verdict::Equal,
        (false, false, true) => Verdict::Different,
        _ => panic!("no verdict on\n{body}\n{log}"),
    }
}

fn assert_proved(kernel: &Kernel, block: &impl Block) {
    assert_eq!(compare(&kernel.body, block), Verdict::Equal, "{}:\n{}", kernel.name, kernel.body);
}

/// Each change that alters the text must be found by the proof, and one must apply.
fn assert_mutants_die(kernel: &Kernel, block: &impl Block) {
    let swap = |a: char, b: char| -> String {
        let other = |c| if c == a { b } else { a };
        kernel.body.chars().map(|c| if c == a || c == b { other(c) } else { c }).collect()
    };
    let mut mutants = vec![swap('&', '|'), swap('+', '-'), kernel.body.replacen('!', "", 1)];
    mutants.retain(|mutant| *mutant != kernel.body);
    assert!(!mutants.is_empty(), "nothing to change in {}", kernel.name);
    for mutant in mutants {
        assert_eq!(compare(&mutant, block), Verdict::Different, "{}:\n{mutant}", kernel.name);
    }
}

#[test]
fn arbiter2_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::arbiter2().unwrap(), kernels::Arbiter2::default());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn arbiter4_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::arbiter4().unwrap(), kernels::Arbiter4::default());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn class_turn_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::class_turn().unwrap(), kernels::ClassTurn::default());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn credit_claim_is_what_rust_hdl_prints() {
    let kernel = kernels::credit_claim().unwrap();
    assert_proved(&kernel, &kernels::CreditClaim::<1>::new());
    assert_proved(&kernel, &kernels::CreditClaim::<4>::new());
    assert_mutants_die(&kernel, &kernels::CreditClaim::<3>::new());
}

#[test]
fn wrr_sides_is_what_rust_hdl_prints() {
    let kernel = kernels::wrr_sides().unwrap();
    assert_proved(&kernel, &kernels::WrrSides::<2>::new());
    assert_proved(&kernel, &kernels::WrrSides::<5>::new());
    assert_mutants_die(&kernel, &kernels::WrrSides::<3>::new());
}

#[test]
fn wrr_straight_is_what_rust_hdl_prints() {
    let kernel = kernels::wrr_straight().unwrap();
    assert_proved(&kernel, &kernels::WrrStraight::<2>::new());
    assert_proved(&kernel, &kernels::WrrStraight::<5>::new());
    assert_mutants_die(&kernel, &kernels::WrrStraight::<3>::new());
}

#[test]
fn coalescing_window_is_what_rust_hdl_prints() {
    let kernel = kernels::coalescing_window().unwrap();
    assert_proved(&kernel, &kernels::CoalescingWindow::<1>::new(1, 0));
    assert_proved(&kernel, &kernels::CoalescingWindow::<5>::new(12, 4));
    assert_mutants_die(&kernel, &kernels::CoalescingWindow::<4>::new(6, 3));
}

#[test]
fn credit_pointers_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::credit_pointers().unwrap(), kernels::CreditPointers::default());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn credit_counter_is_what_rust_hdl_prints() {
    let kernel = kernels::credit_counter().unwrap();
    assert_proved(&kernel, &kernels::CreditCounter::<1>::new());
    assert_proved(&kernel, &kernels::CreditCounter::<4>::new());
    assert_mutants_die(&kernel, &kernels::CreditCounter::<3>::new());
}

#[test]
fn descriptor_check_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::descriptor_check().unwrap(), kernels::DescriptorCheck::new());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn eager_fork_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::eager_fork().unwrap(), kernels::EagerFork::default());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn k_then_v_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::k_then_v().unwrap(), kernels::KThenV::default());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn output_open_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::output_open().unwrap(), kernels::OutputOpen::default());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn packet_lock_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::packet_lock().unwrap(), kernels::PacketLock::default());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn run_failure_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::run_failure().unwrap(), kernels::RunFailure::new());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn run_state_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::run_state().unwrap(), kernels::RunState::new());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn starvation_guard_is_what_rust_hdl_prints() {
    let kernel = kernels::starvation_guard().unwrap();
    assert_proved(&kernel, &kernels::StarvationGuard::<1>::new(1));
    assert_proved(&kernel, &kernels::StarvationGuard::<4>::new(12));
    assert_mutants_die(&kernel, &kernels::StarvationGuard::<3>::new(5));
}

#[test]
fn swap_decision_is_what_rust_hdl_prints() {
    let kernel = kernels::swap_decision().unwrap();
    assert_proved(&kernel, &kernels::SwapDecision::<6>::new());
    assert_mutants_die(&kernel, &kernels::SwapDecision::<4>::new());
}

#[test]
fn access_state_is_what_rust_hdl_prints() {
    assert_proved(&kernels::access_state().unwrap(), &kernels::AccessState::new());
}

#[test]
fn descriptor_state_is_what_rust_hdl_prints() {
    let kernel = kernels::descriptor_state().unwrap();
    assert_proved(&kernel, &kernels::DescriptorState::new(false));
    assert_proved(&kernel, &kernels::DescriptorState::new(true));
    assert_mutants_die(&kernel, &kernels::DescriptorState::new(true));
}

#[test]
fn load_state_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::load_state().unwrap(), kernels::LoadState::new());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

#[test]
fn read_state_is_what_rust_hdl_prints() {
    assert_proved(&kernels::read_state().unwrap(), &kernels::ReadState::new());
}

#[test]
fn root_phase_is_what_rust_hdl_prints() {
    assert_proved(&kernels::root_phase().unwrap(), &kernels::RootPhase::new());
}

#[test]
fn swap_state_is_what_rust_hdl_prints() {
    let (kernel, block) = (kernels::swap_state().unwrap(), kernels::SwapState::new());
    assert_proved(&kernel, &block);
    assert_mutants_die(&kernel, &block);
}

/// Rust reads `a & b == c` as `(a & b) == c`, Verilog as `a & (b == c)`.
#[derive(LogicBlock, Default)]
struct MaskedCompare {
    a: Signal<In, Bits<2>>,
    b: Signal<In, Bits<2>>,
    c: Signal<In, Bits<2>>,
    hit: Signal<Out, Bit>,
}

impl Logic for MaskedCompare {
    #[hdl_gen]
    fn update(&mut self) {
        self.hit.next = self.a.val() & self.b.val() == self.c.val();
    }
}

#[test]
fn brackets_keep_the_meaning_that_rust_hdl_loses_to_precedence() {
    let mut uut = MaskedCompare::default();
    let body = kernels::body(&uut).unwrap();
    assert_eq!(body.trim(), "hit = (a & b) == c;");
    assert_eq!(compare(&body, &uut), Verdict::Different, "rust-hdl's precedence bug is gone: drop this test");

    // What rust-hdl simulates decides who is right: with a = 0 the two readings part.
    uut.a.next = 0.into();
    uut.b.next = 1.into();
    uut.c.next = 0.into();
    assert!(simulate(&mut uut, 4));
    assert!(uut.hit.val());
}
