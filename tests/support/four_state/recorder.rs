//! Records every input and output of a device.

use meshkv::cosim::build::wrap::device_wrapper::shell;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::ports::DutPorts;
use meshkv::cosim::dut::DutError;
use meshkv::design::Design;
use meshkv::emit::{Dir, PortSpec};
use std::sync::{Arc, Mutex};

/// Ports that the clock generator of a bench drives.
const OWN: [&str; 4] = ["clk", "rst", "pe_clk", "pe_rst"];

/// What went into a device and came out of it, period by period.
#[derive(Debug)]
pub struct Record {
    /// Clocks of the run.
    pub clocks: Clocks,
    /// Inputs, then outputs, in the order of their bits in a period.
    pub ports: Vec<PortSpec>,
    /// The reset, and the bits of all ports.
    pub periods: Vec<(bool, Vec<u32>)>,
}

impl Record {
    /// Bits of a period without the reset.
    pub fn bits(&self) -> u32 {
        self.ports.iter().map(|port| port.width.bits).sum()
    }
}

/// Wraps a device, and returns what will be its record.
pub fn recorded(mut dut: Box<dyn DutPorts>, design: &Design) -> (Box<dyn DutPorts>, Arc<Mutex<Record>>) {
    let all = shell(design).ports.into_iter().filter(|port| !OWN.contains(&port.name.as_str()));
    let (mut ports, outputs): (Vec<_>, Vec<_>) = all.partition(|port| port.dir == Dir::Input);
    let inputs = ports.len();
    ports.extend(outputs);
    let find = |port: &PortSpec| (dut.find(&port.name).expect("a port of the shell"), port.width.bits);
    let found = ports.iter().map(find).collect();
    let record = Arc::new(Mutex::new(Record { clocks: Clocks::IN_STEP, ports, periods: Vec::new() }));
    (Box::new(Recorder { dut, found, inputs, record: record.clone() }), record)
}

#[derive(Debug)]
struct Recorder {
    dut: Box<dyn DutPorts>,
    /// Number and bits of each port, the inputs first.
    found: Vec<(usize, u32)>,
    inputs: usize,
    record: Arc<Mutex<Record>>,
}

/// Appends the low `bits` of `words` to a period that has `at` bits.
fn append(to: &mut Vec<u32>, at: &mut u32, words: &[u32], bits: u32) {
    for (i, word) in (0..).zip(words) {
        let left = (bits - 32 * i).min(32);
        let value = u64::from(*word) & ((1 << left) - 1);
        let place = (*at / 32) as usize;
        to.resize(to.len().max(place + 2), 0);
        let shifted = value << (*at % 32);
        to[place] |= shifted as u32;
        to[place + 1] |= (shifted >> 32) as u32;
        *at += left;
    }
}

impl DutPorts for Recorder {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.dut.find(name)
    }

    fn words(&self, port: usize, bits: u32) -> &[u32] {
        self.dut.words(port, bits)
    }

    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32] {
        self.dut.words_mut(port, bits)
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        let (mut period, mut at) = (Vec::new(), 0);
        let mut take = |dut: &dyn DutPorts, ports: &[(usize, u32)]| {
            for &(port, bits) in ports {
                append(&mut period, &mut at, dut.words(port, bits), bits);
            }
        };
        take(&*self.dut, &self.found[..self.inputs]);
        let ticked = self.dut.tick(rst);
        take(&*self.dut, &self.found[self.inputs..]);
        self.record.lock().expect("one holder").periods.push((rst, period));
        ticked
    }

    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        let record = &mut self.record.lock().expect("one holder");
        assert!(record.periods.is_empty(), "clocks are set once, before the first period");
        record.clocks = *clocks;
        self.dut.set_clocks(clocks)
    }

    fn payload_bits(&self) -> u32 {
        self.dut.payload_bits()
    }
}
