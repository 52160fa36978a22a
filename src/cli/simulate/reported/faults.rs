//! `--fault`: faults that a run injects, and their report.

use crate::cli::output::table;
use crate::cli::output::ui::Ui;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::ports::LinkFlip;
use crate::cosim::faults::{judge, Depth, Injected, Seen};
use crate::design::Design;
use anyhow::anyhow;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

// No doc comment: it would become that of the subcommand.
#[allow(missing_docs)]
#[derive(Debug, Clone, Default, clap::Args)]
pub struct FaultArgs {
    /// Inject a fault, for example slverr@hbm0:3, and check that it is reported as it must be: exit code 1 if it is not,
    /// or if the run does not come to it. May be given several times; `--fault help` lists all kinds
    #[arg(long = "fault", value_name = "KIND@PLACE:N", help_heading = "Platform")]
    pub(in crate::cli) faults: Vec<Injected>,
}

/// A fault, and its report.
#[derive(Debug, Serialize, JsonSchema)]
struct FaultRow {
    /// The fault, as it was given.
    fault: String,
    /// Cycle after the start of the run in which it took effect first; null if the run did not come to it.
    reached_cycle: Option<u64>,
    /// Report that must follow.
    expected: String,
    /// It took effect, and what was reported is what must be.
    as_expected: bool,
}

/// Faults of a run, and what it reported.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FaultsOutput_{R}")]
pub(in crate::cli) struct FaultsOutput<R> {
    /// The faults.
    faults: Vec<FaultRow>,
    /// What was reported.
    reported: String,
    /// Every fault took effect, what was reported is what must be, and the next run of a device was right.
    as_expected: bool,
    /// Cycles of the run with the faults.
    cycles: u64,
    /// The next run of a device, without faults: true if it was right; else null.
    recovered: Option<bool>,
    /// Metrics of the run with the faults; null if it has none.
    result: Option<Box<R>>,
    /// Seed of all random choices.
    seed: u64,
    /// Engine of the run: `rtl`, `model`, or both in `lockstep`.
    engine: String,
    /// The command that repeats this.
    command: String,
}

/// A run with faults, before it is judged.
pub(in crate::cli) struct FaultedRun<R> {
    /// What was reported.
    pub(in crate::cli) seen: Seen,
    /// Cycle after the start in which each fault took effect.
    pub(in crate::cli) reached: Vec<Option<u64>>,
    /// Its cycles.
    pub(in crate::cli) cycles: u64,
    /// Reason why the next run was not right, of a device.
    pub(in crate::cli) recovery: Option<Result<(), String>>,
    /// Its metrics.
    pub(in crate::cli) result: Option<R>,
    /// Seed, engine and command.
    pub(in crate::cli) origin: (u64, String, String),
}

impl FaultArgs {
    /// True if there are any.
    pub(in crate::cli) fn any(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Checks that a run of a design has their places.
    ///
    /// # Errors
    /// Names the fault, the rule and the way out.
    pub(in crate::cli) fn fit(&self, design: &Design, device: bool, model: bool) -> anyhow::Result<()> {
        let flips = self.faults.iter().filter(|fault| fault.flip(design).is_some()).count();
        anyhow::ensure!(
            flips <= 1,
            "a run flips a bit of one flit on a link, and {flips} are given\n  help: leave all but one out"
        );
        let mut all = self.faults.iter();
        all.try_for_each(|fault| fault.fits(design, device, model)).map_err(|why| anyhow!(why))
    }

    /// The flip of a flit on a link, if there is one.
    pub(in crate::cli) fn flip(&self, design: &Design) -> Option<LinkFlip> {
        self.faults.iter().find_map(|fault| fault.flip(design))
    }

    /// The clocks with these faults.
    pub(in crate::cli) fn clocks(&self, clocks: Clocks) -> Clocks {
        self.faults.iter().fold(clocks, |clocks, fault| fault.clocks(clocks))
    }

    /// Cycles in which they took effect, from those of the faults of external memory and of the flip on a link: a clock is
    /// wrong from the start.
    pub(in crate::cli) fn reached(&self, struck: &[Option<u64>], flipped: Option<u64>) -> Vec<Option<u64>> {
        let mut struck = struck.iter().copied();
        let at = |fault: &Injected| match fault.of_external() {
            Some(_) => struck.next().flatten(),
            None if fault.is_flip() => flipped,
            None => Some(0),
        };
        self.faults.iter().map(at).collect()
    }

    /// These options of the command that repeats a run.
    pub(in crate::cli) fn words(&self) -> String {
        self.faults.iter().map(|fault| format!(" --fault {fault}")).collect()
    }

    /// Judges the faults of a run and prints the report, as what `printed` makes of it. Exit code 1 if one is not as it must be.
    ///
    /// # Errors
    /// If the result cannot be printed.
    pub(in crate::cli) fn report<R, P: Serialize>(
        &self,
        run: FaultedRun<R>,
        printed: impl FnOnce(FaultsOutput<R>) -> P,
        (design, depth): (&Design, Depth),
        ui: &Ui,
    ) -> anyhow::Result<ExitCode> {
        let judged = judge(&self.faults, &run.reached, &run.seen, (design, depth));
        for one in judged.iter().filter(|one| !one.as_expected) {
            match one.reached {
                None => ui.error(format_args!(
                    "--fault {}: the run did not come to it in its {} cycles\n  \
                     help: choose an earlier request or cycle, or give the run more tokens",
                    one.fault, run.cycles
                )),
                Some(_) => ui.error(format_args!(
                    "--fault {}: must be reported as {}, and this was reported: {}",
                    one.fault, one.expected, run.seen
                )),
            }
        }
        if let Some(Err(why)) = &run.recovery {
            ui.error(format_args!("the next run, without faults, was not right: {why}"));
        }
        let recovered = run.recovery.as_ref().map(Result::is_ok);
        let as_expected = judged.iter().all(|one| one.as_expected) && recovered != Some(false);
        let rows = judged.into_iter().map(|one| FaultRow {
            fault: one.fault,
            reached_cycle: one.reached,
            expected: one.expected.to_string(),
            as_expected: one.as_expected,
        });
        let (seed, engine, command) = run.origin;
        let output = FaultsOutput {
            faults: rows.collect(),
            reported: run.seen.to_string(),
            as_expected,
            cycles: run.cycles,
            recovered,
            result: run.result.map(Box::new),
            seed,
            engine,
            command,
        };
        let text = prose(&output);
        ui.result(&printed(output), || text)?;
        Ok(if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn prose<R>(output: &FaultsOutput<R>) -> String {
    let text = |text: &str| text.to_owned();
    let mut rows = vec![vec![text("fault"), text("took effect"), text("must be reported"), text("")]];
    rows.extend(output.faults.iter().map(|row| {
        let reached = row.reached_cycle.map_or(text("never"), |cycle| format!("in cycle {cycle}"));
        vec![
            row.fault.clone(),
            reached,
            row.expected.clone(),
            text(if row.as_expected { "so it was" } else { "NO" }),
        ]
    }));
    let mut out = format!("Run with faults, {} cycles\n{}", output.cycles, table::columns(&rows));
    out += &format!("Reported: {}\n", output.reported);
    out += match output.recovered {
        Some(true) => "The next run, without faults, was right in every bit.\n",
        Some(false) => "The next run, without faults, was NOT right.\n",
        None => "",
    };
    out + &format!("{}\n", output.command)
}
