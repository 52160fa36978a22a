//! The simulation behind the ports of a fabric, as selected by options, and waves of a difference between
//! model and Verilog.

use crate::cli::output::ui::Ui;
use crate::cli::output::views::Views;
use crate::cli::simulate::engine::Carrier;
use crate::cli::simulate::library::library_in;
use crate::cosim::build::{BuildForm, RunLength, LONG_RUN};
use crate::cosim::checks::lockstep::PortLockstep;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::verilated::verilated_ports::verilated;
use crate::cosim::dut::verilated::waves::PortWaveWindow;
use crate::cosim::dut::watched::power_up;
use crate::cosim::dut::{DutError, PortDifference};
use crate::design::{Design, Mesh, NodeId, Port};
use crate::emit::ModuleSpec;
use crate::model::cycle::network::Upset;
use crate::tools::interrupt::Interrupt;
use crate::tools::whole_file;
use anyhow::{anyhow, Context};
use std::path::Path;

/// Verilog of a design in one form, for one command.
pub(in crate::cli) struct Verilog<'a> {
    pub(in crate::cli) design: &'a Design,
    pub(in crate::cli) form: BuildForm,
    pub(in crate::cli) length: RunLength,
    /// Its own cache folder, if any.
    pub(in crate::cli) cache: Option<&'a Path>,
    /// Seed of the run, from which the values of registers before the reset are drawn.
    pub(in crate::cli) seed: u64,
    pub(in crate::cli) interrupt: &'a Interrupt,
    pub(in crate::cli) ui: &'a Ui,
}

impl Verilog<'_> {
    /// Opens the Verilog, with waves if requested, or both engines, compared at the ports of `top`. The model
    /// alone is not opened here.
    ///
    /// # Errors
    /// When a tool is missing or fails, a file cannot be written, or the build is interrupted.
    pub(in crate::cli) fn open(
        &self,
        carrier: &Carrier,
        top: &ModuleSpec,
        model: impl FnOnce(&Design) -> Box<dyn DutPorts>,
    ) -> anyhow::Result<Box<dyn DutPorts>> {
        if !carrier.lockstep {
            return self.alone(carrier);
        }
        if let Some(path) = &carrier.wave {
            whole_file::check_waves(path).context("--wave needs a file that can be written")?;
        }
        let upset = carrier.upset.map(|upset| place(self.design.mesh, upset)).transpose()?;
        self.beside(top, model(self.design), upset)
    }

    /// Opens the Verilog alone, with waves if requested.
    ///
    /// # Errors
    /// As [`Verilog::open`].
    pub(in crate::cli) fn alone(&self, carrier: &Carrier) -> anyhow::Result<Box<dyn DutPorts>> {
        let Some(path) = carrier.waves() else { return self.build() };
        whole_file::check_waves(path).context("--wave needs a file that can be written")?;
        Ok(Box::new(PortWaveWindow::new(self.build()?, path, 0..u64::MAX)))
    }

    /// Opens the Verilog and its model, compared at the ports of `top`; the model may be upset at a tile
    /// before a cycle.
    ///
    /// # Errors
    /// As [`Verilog::open`].
    pub(in crate::cli) fn beside(
        &self,
        top: &ModuleSpec,
        model: Box<dyn DutPorts>,
        upset: Option<(u64, NodeId)>,
    ) -> anyhow::Result<Box<dyn DutPorts>> {
        let mut both = PortLockstep::beside(self.build()?, model, top, self.design)?;
        if let Some((cycle, tile)) = upset {
            both.upset_at(cycle, tile, Upset::LoseCredits(Port::Local));
        }
        Ok(Box::new(both))
    }

    /// Reports a difference, and writes waves of it to the file of the options.
    ///
    /// # Errors
    /// As [`Verilog::show`].
    pub(in crate::cli) fn differs(
        &self,
        difference: &PortDifference,
        carrier: &Carrier,
        again: impl FnOnce(Box<dyn DutPorts>) -> Option<DutError>,
    ) -> anyhow::Result<()> {
        self.ui.error(format_args!("model and Verilog differ in {difference}"));
        match carrier.wave_file(self.design) {
            Some(path) => self.show(difference, &path, again),
            None => Ok(()),
        }
    }

    /// Runs the Verilog up to a difference again, and writes waves of the cycles around it.
    ///
    /// # Errors
    /// As [`Verilog::open`]; Ctrl-C in the second run.
    pub(in crate::cli) fn show(
        &self,
        difference: &PortDifference,
        path: &Path,
        again: impl FnOnce(Box<dyn DutPorts>) -> Option<DutError>,
    ) -> anyhow::Result<()> {
        whole_file::check_waves(path)
            .context("the waves of the difference need a file that can be written")?;
        let _views = Views::of(path.to_owned(), self.design, self.ui);
        let work = difference.cycle * self.design.mesh.tiles() as u64;
        let traced = Verilog { length: RunLength::of(work, LONG_RUN).traced(None), ..*self };
        let excerpt = PortWaveWindow::new(traced.build()?, path, difference.wave_cycles());
        let end = again(Box::new(excerpt));
        self.interrupt.check("while waves of the difference were written")?;
        match end {
            Some(DutError::Written(_)) => {
                self.ui.note(format_args!("waves of the cycles around it are in {}", path.display()));
            }
            _ => self.ui.note(format_args!(
                "the Verilog ended before all cycles around it; waves up to there are in {}",
                path.display()
            )),
        }
        Ok(())
    }

    /// The Verilog before its reset.
    ///
    /// # Errors
    /// When a tool is missing or fails, or the build is interrupted.
    pub(in crate::cli) fn build(&self) -> anyhow::Result<Box<dyn DutPorts>> {
        let built = library_in(self.cache, self.design, self.form, self.length, self.interrupt, self.ui);
        let library = self.interrupt.explain(built, "while the fabric was built; nothing is left of it")?;
        let seed = power_up(self.seed);
        self.ui
            .detail(format_args!("registers hold values of seed {seed} before the reset, drawn from --seed"));
        Ok(verilated(&library, seed)?)
    }
}

/// Cycle and tile of the model's upset.
///
/// # Errors
/// If there is no such tile.
pub(in crate::cli) fn place(mesh: Mesh, (x, y, cycle): (u32, u32, u64)) -> anyhow::Result<(u64, NodeId)> {
    let (cols, rows) = (mesh.cols(), mesh.rows());
    let tile = mesh.node(x, y).ok_or_else(|| {
        anyhow!(
            "--upset {x},{y}@{cycle} is at no tile of this {cols}x{rows} mesh\n  \
             help: columns count from 0 in the west, rows from 0 in the south"
        )
    })?;
    Ok((cycle, tile))
}
