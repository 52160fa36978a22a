//! Options of the engine that carries the flits, common to all simulations.

use crate::cli::output::ui::Ui;
use crate::cli::program::scope::{Only, Scope};
use crate::config::Engine;
use crate::cosim::build::RunLength;
use crate::design::Design;
use std::path::{Path, PathBuf};

// No doc comment: it would become that of the subcommand.
#[allow(missing_docs)]
#[derive(Debug, Clone, clap::Args)]
pub struct Carrier {
    /// Engine that carries the flits; cycles are equal on both [default: rtl; below `sim` model]
    #[arg(long, value_enum, help_heading = "Engine")]
    engine: Option<Engine>,
    /// Run model and Verilog side by side and compare their ports in every cycle; the first difference ends the run
    #[arg(long, conflicts_with = "engine", help_heading = "Engine")]
    pub(in crate::cli) lockstep: bool,
    /// Let the model's router at X,Y lose the credits of its tile in a cycle, to see lockstep find it
    #[arg(long, value_name = "X,Y@CYCLE", value_parser = upset, help_heading = "Engine")]
    pub(in crate::cli) upset: Option<(u32, u32, u64)>,
    /// Write waves; the Verilog is built again for this and runs slower. With --lockstep, of the cycles around a
    /// difference [default there: NAME-lockstep.fst]
    #[arg(long, value_name = "FILE.fst", value_parser = fst, value_hint = clap::ValueHint::FilePath, help_heading = "Engine")]
    pub(in crate::cli) wave: Option<PathBuf>,
}

/// Where options of the engine have an effect.
pub(in crate::cli) const SCOPES: &[Scope] = &[
    Scope { of: &["upset"], only: &[Only::With(&["lockstep"])], why: "" },
    Scope { of: &["wave"], only: &[Only::OnVerilog], why: "the model has no waves" },
    Scope { of: &["whole"], only: &[Only::OnVerilog], why: "the model has no parts" },
];

impl Carrier {
    /// These options with the engine decided: the requested one, or the subcommand's default.
    pub(in crate::cli) fn decided(&self, default: Engine) -> Carrier {
        // Lockstep runs both engines; its results are those of the Verilog.
        let default = if self.lockstep { Engine::Rtl } else { default };
        Carrier { engine: Some(self.engine.unwrap_or(default)), ..self.clone() }
    }

    /// True if the model alone carries the flits.
    pub(in crate::cli) fn is_model(&self) -> bool {
        self.engine == Some(Engine::Model)
    }

    /// True if the model runs, alone or beside the Verilog.
    pub(in crate::cli) fn has_model(&self) -> bool {
        self.lockstep || self.is_model()
    }

    /// Name of the engine in results.
    pub(in crate::cli) fn name(&self) -> String {
        match self.engine {
            _ if self.lockstep => "lockstep".to_owned(),
            engine => engine.unwrap_or(Engine::Rtl).name().to_owned(),
        }
    }

    /// File for waves that the run may write: of all of it, or around a difference.
    pub(in crate::cli) fn wave_file(&self, design: &Design) -> Option<PathBuf> {
        let of_difference = || self.lockstep.then(|| format!("{}-lockstep.fst", design.name).into());
        self.wave.clone().or_else(of_difference)
    }

    /// File for waves of the whole run.
    pub(in crate::cli) fn waves(&self) -> Option<&Path> {
        self.wave.as_deref().filter(|_| !self.lockstep)
    }

    /// Compilation of the Verilog for this amount of work, compared with the amount that counts as long: see
    /// [`RunLength::of`].
    pub(in crate::cli) fn length(&self, work: u64, long: u64) -> RunLength {
        let length = RunLength::of(work, long);
        if self.waves().is_some() {
            length.traced(None)
        } else {
            length
        }
    }

    /// Clause on the waves of an interrupted run.
    pub(in crate::cli) fn waves_until_then(&self) -> String {
        self.waves().map_or(String::new(), |path| format!("; waves until then are in {}", path.display()))
    }

    /// Prints the place of the waves of a finished run.
    pub(in crate::cli) fn note_waves(&self, ui: &Ui) {
        if let Some(path) = self.waves() {
            ui.note(format_args!("wrote {}", path.display()));
        }
    }

    /// Lockstep options of the command that repeats a run.
    pub(in crate::cli) fn words_of_lockstep(&self) -> String {
        let lockstep = if self.lockstep { " --lockstep" } else { "" };
        let upset = self.upset.map_or(String::new(), |(x, y, cycle)| format!(" --upset {x},{y}@{cycle}"));
        format!("{lockstep}{upset}")
    }

    /// Engine options of the command that repeats a run, for subcommands that run the Verilog by default.
    pub(in crate::cli) fn words(&self) -> String {
        let engine = if self.is_model() { " --engine model" } else { "" };
        format!("{engine}{}", self.words_of_lockstep())
    }
}

/// A file of waves, which are FST.
pub(in crate::cli) fn fst(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().is_some_and(|extension| extension == "fst") {
        true => Ok(path),
        false => Err("waves are FST, so the name ends with .fst, for example waves.fst".to_owned()),
    }
}

/// Column, row and cycle of an upset.
pub(in crate::cli) fn upset(text: &str) -> Result<(u32, u32, u64), String> {
    let read = || {
        let (place, cycle) = text.split_once('@')?;
        let (x, y) = place.split_once(',')?;
        Some((x.trim().parse().ok()?, y.trim().parse().ok()?, cycle.trim().parse().ok()?))
    };
    read().ok_or_else(|| "write column, row and cycle, for example 1,1@500".to_owned())
}
