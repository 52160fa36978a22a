//! `meshkv run --steps`: decode steps one after the other over caches that grow.

pub(super) mod args;
pub(super) mod report;

use crate::cli::load::load;
use crate::cli::output::pictures::Pictures;
use crate::cli::output::ui::Ui;
use crate::cli::output::views::Views;
use crate::cli::simulate::ports::Verilog;
use crate::cli::simulate::reported::ended::Ended;
use crate::cli::simulate::run::args::Args;
use crate::cli::simulate::run::device;
use crate::cli::simulate::run::output::RunOutput;
use crate::cli::simulate::run::steps::args::fitted;
use crate::cli::simulate::run::steps::report::{prose, StepsOutput};
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::memory::{Behaviour, Image};
use crate::cosim::workloads::attention::{Bench, Job, Session};
use crate::cosim::workloads::steps::{check, decode, Caches, Difference, Schedule, Stepped};
use crate::design::{Choice, Design, Mapping};
use crate::eval::report::{Figure, RunPage};
use crate::eval::{self, StepsLog, StepsRow};
use crate::model::datapath::tensors::Tensors;
use crate::tools::interrupt::Interrupt;
use std::process::ExitCode;

/// Engine that will run the steps, before the first.
pub(super) enum Simulation {
    Model,
    Core(Box<dyn DutPorts>),
    Device(Box<device::Host>),
}

/// The same from then on.
enum Simulated<'a> {
    Core(Box<Session<'a>>),
    Device(Box<device::Host>),
}

/// Inputs of the steps, without the engine.
pub(super) struct Work<'a> {
    pub(super) args: &'a Args,
    pub(super) design: &'a Design,
    pub(super) schedule: &'a Schedule,
    pub(super) tensors: &'a Tensors,
    pub(super) mapping: Mapping,
    pub(super) behaviour: Behaviour,
}

/// Runs the subcommand with `--steps`. Exit code 1 if an output of a step differs from the model of the datapath in a bit
/// or exceeds the bound of its error, or external memory is not what a host would have written.
///
/// # Errors
/// A wrong configuration or workload, a missing tool, a file that cannot be written, or Ctrl-C.
pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let schedule = args.grow.schedule(&args.lengths)?;
    let (mut design, _) = load(&args.config, ui)?;
    if args.fit {
        let (made, changed) = fitted(&design, &schedule)?;
        if !changed.is_empty() {
            ui.note(format_args!(
                "--fit: this run has {}; {} has not",
                changed.join(", "),
                args.config.display()
            ));
        }
        design = made;
    }
    let design = args.of_call(design)?.without_refresh(args.no_refresh);
    check(&schedule, &design)?;
    ui.made_from(&design.name, design.config_sha256());
    ui.seeded(Some(args.seed));
    let interrupt = Interrupt::listen()?;
    let pictures = args.plot.as_deref().map(Pictures::open).transpose()?;
    let tensors = match args.timing {
        true => schedule.blank(&design),
        false => {
            let drawn = args.sunk(&design, schedule.tensors(&design, args.seed, args.logits));
            args.scaled(&design, drawn)?
        }
    };
    let (mapping, chosen) = mapping(args, &design, &schedule, &tensors)?;
    let behaviour = args.behaviour(&design);
    let work = Work { args, design: &design, schedule: &schedule, tensors: &tensors, mapping, behaviour };
    let (form, length) = args.build_of(&design, schedule.attended());
    let verilog =
        Verilog { design: &design, form, length, cache: None, seed: args.seed, interrupt: &interrupt, ui };
    let _views = args.carrier.waves().map(|path| Views::of(path.to_owned(), &design, ui));
    let simulation = if args.device {
        let bench = device::bench(args, &design, None, work.behaviour.clone(), &verilog)?;
        Simulation::Device(Box::new(bench))
    } else if args.carrier.is_model() {
        Simulation::Model
    } else {
        Simulation::Core(verilog.open(&args.carrier, &Bench::ports(&design), Bench::model)?)
    };
    let progress = ui.progress(Some(schedule.attended()), "decoding");
    let (mut log, mut attended) = (StepsLog::default(), 0);
    let steps = schedule.batches.len();
    let result = work.decode(simulation, &mut || interrupt.requested(), &mut |stepped| {
        attended += (0..stepped.job.streams).map(|b| stepped.job.attended(b).len() as u64).sum::<u64>();
        log.add(&stepped);
        progress.set(attended);
        progress.message(format!("step {} of {steps}", stepped.step + 1));
    });
    drop(progress);
    let (lengths, memory) = match result {
        Ok(end) => end,
        Err(ended) => {
            return ended.explain("decoding", &args.carrier, &verilog, |socket| {
                let socket = Simulation::Core(socket);
                work.decode(socket, &mut || interrupt.requested(), &mut |_| {}).err()
            });
        }
    };
    args.carrier.note_waves(ui);
    let row = log.row(&lengths, memory.as_ref());
    let output = StepsOutput::new(args, &schedule, (mapping, chosen.as_ref()), &row);
    if let Some(pictures) = &pictures {
        pictures.write_page(&page(&design, &schedule, &row, output.command())?, ui)?;
    }
    ui.result(&RunOutput::Steps(output), || prose(&design, &schedule, chosen.as_ref(), &row))?;
    Ok(if row.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The mapping of all steps, with its choice if the workload decides: by the step with the most tokens.
pub(super) fn mapping(
    args: &Args,
    design: &Design,
    schedule: &Schedule,
    tensors: &Tensors,
) -> anyhow::Result<(Mapping, Option<Choice>)> {
    if let Some(mapping) = args.mapping.fixed() {
        return Ok((mapping, None));
    }
    let mut caches = Caches::new(design, schedule)?;
    let mut most = (0, Vec::new());
    for batch in &schedule.batches {
        let tokens: u64 = batch.iter().map(|&b| u64::from(caches.lengths()[b as usize]) + 1).sum();
        if tokens >= most.0 {
            let job = caches.job(tensors, batch, Mapping::RowAligned, args.sharing)?;
            most = (tokens, job.descriptors().map_err(anyhow::Error::from)?);
        }
        caches.grow(batch);
    }
    let choice = Choice::new(design, &most.1);
    Ok((choice.mapping, Some(choice)))
}

impl Work<'_> {
    /// Runs all steps on a simulation. Returns the lengths of all caches, and how memory differs from what a host would have
    /// written, where it has numbers.
    pub(super) fn decode(
        &self,
        simulation: Simulation,
        stop: &mut dyn FnMut() -> bool,
        see: &mut dyn FnMut(Stepped),
    ) -> Result<(Vec<u32>, Option<Difference>), Ended> {
        let Work { args, design, schedule, tensors, .. } = *self;
        let mut caches = Caches::new(design, schedule)?;
        let image_of = |caches: &Caches| match args.timing {
            true => Image::Hash(0),
            false => caches.image(tensors, args.seed),
        };
        let (image, behaviour) = (image_of(&caches), self.behaviour.clone());
        let clocks = args.clocks(design);
        let of_core = |session| Simulated::Core(Box::new(session));
        let mut session = match simulation {
            Simulation::Device(bench) => Simulated::Device(bench),
            Simulation::Core(socket) => {
                of_core(Session::on(socket, design, image.clone(), behaviour, clocks)?)
            }
            Simulation::Model if args.timing => of_core(Session::timing(design, behaviour, clocks)?),
            Simulation::Model => of_core(Session::on_model(design, image.clone(), behaviour, clocks)?),
        };
        if let Simulated::Device(bench) = &mut session {
            bench.driver.device.set_image(image);
        }
        let mut one_step = |job: &Job| match &mut session {
            Simulated::Device(bench) => device::step(bench, args, job, stop),
            Simulated::Core(session) => session.step(job, args.stall, stop).map_err(Ended::from),
        };
        let how = (self.mapping, args.sharing);
        decode(&mut caches, schedule, tensors, how, &mut one_step, &mut |stepped| see(stepped))?;
        let memory = match &session {
            Simulated::Device(bench) => bench.driver.device.image(),
            Simulated::Core(session) => session.image(),
        };
        let memory = (!args.timing).then(|| Difference::of(memory, &image_of(&caches)));
        Ok((caches.lengths().to_vec(), memory))
    }
}

/// The page of `--plot`.
fn page(design: &Design, schedule: &Schedule, row: &StepsRow, command: &str) -> anyhow::Result<RunPage> {
    let title = format!("{}: {} steps of {} streams", design.name, row.steps, schedule.lengths.len());
    let picture = eval::steps_plot(&title, row)?;
    let caption =
        "Cycles of each step, from its first query to its last output, over the tokens of its streams.";
    let figures = vec![Figure::new("steps", picture, caption.to_owned())];
    Ok(RunPage { title, command: command.to_owned(), figures, ..RunPage::default() })
}
