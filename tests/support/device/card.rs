//! A co-simulated device as the card of a host's program, with the Verilog of tests.

use super::{assert_rules_of, lasting_whole, whole};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::card::{self, Server};
use meshkv::cosim::workloads::device::{Bench, Faults, Platform};
use meshkv::design::Design;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

/// The card.
pub struct Card(card::Card);

impl Card {
    /// A card in its first state, with garbage in its memory.
    pub fn new(design: &Design) -> Card {
        Card::of(design, whole, card::Card::new, card::Card::platform)
    }

    /// The card without a shell: memory is the host's.
    pub fn bare(design: &Design) -> Card {
        Card::of(design, whole, card::Card::bare, card::Card::bare_platform)
    }

    /// The same for programs that run for many minutes.
    pub fn lasting(design: &Design) -> Card {
        Card::of(design, lasting_whole, card::Card::new, card::Card::platform)
    }

    fn of(
        design: &Design,
        build: fn(&Design, &Platform, &Clocks) -> Bench,
        card: fn(Bench, &Design) -> card::Card,
        platform: fn(&Design) -> Platform,
    ) -> Card {
        Card(card(build(design, &platform(design), &Clocks::IN_STEP), design))
    }

    /// Runs a host's program on the card to its end. No rule of AXI may be broken.
    pub fn serve(&mut self, command: &mut Command) -> Output {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(dir.path().join(name)).unwrap();
        command.stdout(file("out")).stderr(file("err"));
        let status = Server::new().unwrap().run(&mut self.0, command, &|| false).unwrap();
        assert_rules_of(self.0.device(), "a host's program");
        let said = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
        Output { status, stdout: said("out"), stderr: said("err") }
    }

    /// Buffers that hosts have given back, and buffers that one had or gave back while the device could write them.
    pub fn freed(&self) -> (usize, usize) {
        self.0.freed()
    }

    /// Gives the memories faults, until a host clears an error.
    pub fn break_memory(&mut self, faults: Faults) {
        self.0.break_memory(faults);
    }
}

/// Path of the stand-in for XRT.
pub fn stand_in() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sim/xrt")
}
