//! Compiled Verilog and its model side by side behind the same ports: in every period all outputs are compared.

use super::super::bits::get_bits;
use super::super::clocks::Clocks;
use super::super::dut::DutError;
use super::super::ffi::Library;
use super::super::socket::Socket;
use super::super::verilated::Verilated;
use super::fabric::FabricPorts;
use super::packed::parts;
use crate::design::Design;
use crate::emit::{Dir, ModuleSpec, PortSpec};

/// An output that both show.
#[derive(Debug)]
struct Output {
    name: String,
    /// Its numbers in the Verilog and in the model, and bits of a part.
    ports: [usize; 2],
    bits: u32,
    parts: u32,
    /// The number of its valid in the Verilog, if it has one.
    valid: Option<usize>,
}

/// Both. What is shown is the Verilog's.
#[derive(Debug)]
pub struct Lockstep {
    rtl: Verilated,
    model: FabricPorts,
    /// Numbers of ports that were found, in both.
    found: Vec<[usize; 2]>,
    inputs: Vec<(usize, u32)>,
    outputs: Vec<Output>,
    periods: u64,
}

impl Lockstep {
    /// A library of the whole design beside a model of it; `seed` sets what registers hold before reset.
    ///
    /// # Errors
    /// If the library does not start.
    pub fn new(
        library: &Library,
        design: &Design,
        top: &ModuleSpec,
        model: FabricPorts,
        seed: u64,
    ) -> Result<Lockstep, DutError> {
        let rtl = Verilated::new(library, seed)?;
        let mut both =
            Lockstep { rtl, model, found: Vec::new(), inputs: Vec::new(), outputs: Vec::new(), periods: 0 };
        // Payloads are the datapath's matter.
        let outputs: Vec<_> =
            top.ports.iter().filter(|p| p.dir == Dir::Output && !p.name.ends_with("out_data")).collect();
        for &port in &outputs {
            let number = both.find(&port.name).ok_or_else(|| mismatch(port))?;
            let parts = parts(&port.width.expr, design);
            let valid = valid_of(top, port).and_then(|name| both.rtl.find(name));
            both.outputs.push(Output {
                name: port.name.clone(),
                ports: both.found[number],
                bits: port.width.bits / parts,
                parts,
                valid,
            });
        }
        Ok(both)
    }

    /// Whether a part of an output means anything.
    fn is_said(&self, output: &Output, part: u32) -> bool {
        let valid = |port| get_bits(self.rtl.words(port, output.parts), part as usize, 1).next();
        output.valid.is_none_or(|port| valid(port) == Some(1))
    }

    /// The first output that differs.
    fn compare(&self) -> Result<(), DutError> {
        for output in &self.outputs {
            for part in 0..output.parts {
                let (begin, total) = ((part * output.bits) as usize, output.bits * output.parts);
                let of = |words| {
                    let words = get_bits(words, begin, output.bits).zip([0, 32]);
                    words.fold(0, |all, (word, shift)| all | u64::from(word) << shift)
                };
                let rtl = of(self.rtl.words(output.ports[0], total));
                let model = of(self.model.words(output.ports[1], total));
                if self.is_said(output, part) && rtl != model {
                    return Err(DutError::Stopped(format!(
                        "in cycle {}, {}[{part}] is {rtl:#x} in the Verilog and {model:#x} in the model",
                        self.periods, output.name
                    )));
                }
            }
        }
        Ok(())
    }
}

fn mismatch(port: &PortSpec) -> DutError {
    DutError::Mismatch(format!("it has no port {}", port.name))
}

/// The port that says whether this one means anything: the one of its bundle that ends in `valid`.
fn valid_of<'a>(top: &'a ModuleSpec, port: &PortSpec) -> Option<&'a str> {
    let says = |name: &str| name.strip_suffix("valid").is_some_and(|prefix| port.name.starts_with(prefix));
    top.ports.iter().map(|other| other.name.as_str()).find(|name| says(name) && *name != port.name)
}

impl Socket for Lockstep {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.found.push([self.rtl.find(name)?, self.model.find(name)?]);
        Some(self.found.len() - 1)
    }

    fn words(&self, port: usize, bits: u32) -> &[u32] {
        self.rtl.words(self.found[port][0], bits)
    }

    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32] {
        if !self.inputs.iter().any(|(input, _)| *input == port) {
            self.inputs.push((port, bits));
        }
        self.rtl.words_mut(self.found[port][0], bits)
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        for &(port, bits) in &self.inputs {
            let [rtl, model] = self.found[port];
            let words = self.rtl.words(rtl, bits);
            self.model.words_mut(model, bits)[..words.len()].copy_from_slice(words);
        }
        self.rtl.tick(rst)?;
        self.model.tick(rst)?;
        self.periods += u64::from(!rst);
        if rst {
            return Ok(());
        }
        self.compare()
    }

    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        self.rtl.set_clocks(clocks)?;
        self.model.set_clocks(clocks)
    }

    fn payload_bits(&self) -> u32 {
        self.rtl.payload_bits()
    }
}
