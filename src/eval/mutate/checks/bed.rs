//! A design with its library, and what all checks share.

use crate::cosim::build::{BuildForm, Library};
use crate::cosim::checks::lockstep::PortLockstep;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::verilated::verilated_ports::verilated;
use crate::cosim::hash::mix;
use crate::design::Design;
use crate::emit::ModuleSpec;
use std::cell::Cell;

/// A design with its library, in which a mutant is chosen.
pub struct Bed<'a> {
    /// The design.
    pub design: &'a Design,
    /// Its library of the check's form.
    pub library: &'a Library,
    noise: Cell<u64>,
}

/// A check.
pub struct Check {
    /// Its name in reports.
    pub name: &'static str,
    /// Form of the library that it runs.
    pub form: BuildForm,
    /// Runs it: the error is the fault that was seen.
    pub run: fn(&Bed) -> Result<(), String>,
}

impl<'a> Bed<'a> {
    /// A design with its library, for a check of this name.
    pub fn new(design: &'a Design, library: &'a Library, check: &str) -> Bed<'a> {
        let noise = check.bytes().fold(0, |noise, byte| mix(noise ^ u64::from(byte)));
        Bed { design, library, noise: Cell::new(noise) }
    }

    /// Seed of register values before the reset: another each time.
    pub(super) fn noise(&self) -> u64 {
        self.noise.set(mix(self.noise.get()));
        self.noise.get()
    }

    /// The Verilog, out of whose reset the caller takes it.
    pub(super) fn alone(&self) -> Result<Box<dyn DutPorts>, String> {
        verilated(self.library, self.noise()).map_err(|why| why.to_string())
    }

    /// The Verilog beside its model.
    pub(super) fn beside(
        &self,
        model: Box<dyn DutPorts>,
        top: &ModuleSpec,
    ) -> Result<Box<dyn DutPorts>, String> {
        let both = PortLockstep::beside(self.alone()?, model, top, self.design);
        Ok(Box::new(both.map_err(|why| why.to_string())?))
    }

    /// The reset is over: only now does it count whether the mutant has changed a value.
    pub(super) fn begins(&self) {
        if let Some(mutants) = self.library.mutants() {
            mutants.forget();
        }
    }
}

/// The first of some violations, as a fault.
pub(super) fn none<T: ToString>(violations: &[T]) -> Result<(), String> {
    violations.first().map_or(Ok(()), |first| Err(first.to_string()))
}

/// Calls after which a run is given up: far beyond any of these.
pub(super) fn patience(looks: u32) -> impl FnMut() -> bool {
    let mut left = looks;
    move || {
        left = left.saturating_sub(1);
        left == 0
    }
}
