//! Arguments of `meshkv run`, and the job that follows from them.

use crate::cli::output::ui::Ui;
use crate::cli::program::scope::{Only, Scope};
use crate::cli::simulate::engine::Carrier;
use crate::cli::simulate::reported::faults::FaultArgs;
use crate::cli::simulate::run::steps::args::GrowArgs;
use crate::cli::simulate::run::trace::TraceArgs;
use crate::config::{AskedMapping, KvScales, Mapping, Sharing};
use crate::cosim::build::{BuildForm, RunLength};
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::attention::{lengths_fit, Job, JobError};
use crate::design::{row_of, Choice, Design, LayerKind};
use crate::model::datapath::tensors::{synthetic, synthetic_sinks, Logits, Synthetic, Tensors};
use crate::model::datapath::HeadScales;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Compute attention of a decode step, on the emitted Verilog or on its model
///
/// The whole design runs, the same to the cycle on both engines: queries and descriptors go in, slices come from external memory over their homes
/// and the mesh to the tiles, PaD computes, reduce roots merge. Every output must equal the bit-exact model of the
/// datapath, and its error against attention in f64 is set beside that of FlashAttention-2 in FP16. Exit code 1 if
/// a bit differs, or if a logit is beyond the range of the datapath.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  meshkv run configs/minilm.toml --tensors examples/minilm.safetensors
  meshkv run configs/tiny.toml --tensors mine.safetensors --layer 3 --query 511 --fit
  meshkv run configs/tiny.toml --tokens 200 --logits peaky --json | jq .max_abs_error
  meshkv run configs/tiny.toml --plot out --output attention.safetensors
  meshkv run configs/tiny.toml --tokens 40 --save-tensors drawn.safetensors
  meshkv run configs/tiny.toml --tokens 8 --wave run.fst --wave-depth 3
  meshkv sim run configs/tiny.toml --tokens 13 --vectors out/vectors      for bench/tb.v in one's own simulator
  meshkv sim run configs/u280_4x8.toml --timing --tokens 4096             cycles only, on the model
  meshkv run configs/tiny.toml --tokens 60 --lockstep                     on both, compared in every cycle
  meshkv run configs/tiny.toml --device --unruly-memory                   through registers and AXI, as a host
  meshkv run configs/tiny.toml --device --host-model pcie3_x16            what a call costs a host behind PCIe
  meshkv run configs/tiny.toml --tokens 24 --device --fault slverr@0:3    a memory that fails, and the report of it
  meshkv run configs/tiny.toml --tokens 60 --partials 3                   three cards with 20 tokens each, merged
  meshkv run configs/tiny.toml --lengths 17,64                            streams of different lengths, a cache each
  meshkv sim run configs/tiny.toml --lengths 20,25 --prefix 16 --timing  after a common prefix, which is read once
  meshkv run configs/tiny.toml --lengths 0,21 --steps 12 --fit            twelve tokens each: append, attend, next
  meshkv sim run configs/grow_4x4.toml --fit --lengths 17,64 --steps 40 --begin 5,0 --end 40,30    that come and go

Tensors are named layers.L.q of shape [heads, positions, head_dim], layers.L.k and layers.L.v of shape
[kv_heads, tokens, head_dim]: F16, BF16 or F32. Keys and values may be F8_E4M3, F8_E5M2 or I8, with scales in
layers.L.k_scale and layers.L.v_scale: of KV heads F32, of KV heads and tokens F32 or F16. Without a file they are drawn from --seed.")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    pub(super) config: PathBuf,
    /// Queries, keys and values, as safetensors
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Tensors")]
    tensors: Option<PathBuf>,
    /// Layer: of the file, and of the model where its layers differ (`model.groups`): its window and its sinks
    #[arg(long, value_name = "L", default_value_t = 0, help_heading = "Tensors")]
    layer: u32,
    /// Tokens that attention looks back, whatever the layer does
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Workload")]
    window: Option<u32>,
    /// Scale of the logits before the softmax [default: 1 over the root of head_dim]
    #[arg(long, value_name = "SCALE", conflicts_with = "save_tensors", help_heading = "Workload")]
    sm_scale: Option<f32>,
    /// Query position; with --batch the first of so many
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Tensors")]
    pub(super) query: usize,
    /// Take heads, KV heads, head_dim and tokens from the tensors, whatever the configuration says; with --steps turn
    /// kv.append on and make room for all streams and tokens
    #[arg(long, help_heading = "Tensors")]
    pub(super) fit: bool,
    /// Tokens that are drawn where there is no file [default: model.max_tokens, at most 512]
    #[arg(long, conflicts_with = "tensors", help_heading = "Tensors")]
    tokens: Option<u32>,
    /// Spread of drawn logits
    #[arg(long, value_enum, default_value_t = Logits::Normal, conflicts_with = "tensors", help_heading = "Tensors")]
    pub(super) logits: Logits,
    /// Queries at consecutive positions, each a stream of its own that shares all tokens
    #[arg(long, value_name = "STREAMS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Workload")]
    pub(super) batch: u32,
    /// Run so many more times, as cards that share the tokens evenly: each returns m, l and o in FP32, which are merged as
    /// a host does and set beside the one run over all tokens
    #[arg(long, value_name = "CARDS", value_parser = clap::value_parser!(u32).range(2..), conflicts_with_all = ["timing", "wave", "lengths"], help_heading = "Workload")]
    pub(super) partials: Option<u32>,
    /// Tokens of each stream, in a cache of its own: the first takes the first tokens of the tensors, the next those behind
    /// them. Streams have queries at consecutive positions
    #[arg(long, value_name = "TOKENS,...", value_delimiter = ',', conflicts_with_all = ["batch", "tokens"], help_heading = "Workload")]
    pub(super) lengths: Vec<u32>,
    #[command(flatten)]
    pub(super) grow: GrowArgs,
    #[command(flatten)]
    pub(super) trace: TraceArgs,
    /// Which tile computes a head
    #[arg(long, value_enum, default_value_t = AskedMapping::Auto, help_heading = "Workload")]
    pub(super) mapping: AskedMapping,
    /// Heads that receive a slice
    #[arg(long, value_enum, default_value_t = Sharing::KvHead, help_heading = "Workload")]
    pub(super) sharing: Sharing,
    /// Of 256 cycles, those in which no output is taken
    #[arg(long, value_name = "OF_256", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=250), help_heading = "Platform")]
    pub(super) stall: u8,
    /// External memory that is never refreshed, whatever `memory.refresh` says
    #[arg(long, help_heading = "Platform")]
    pub(super) no_refresh: bool,
    /// External memory out of order, with gaps and refusals, instead of at its best
    #[arg(long, help_heading = "Platform")]
    pub(super) unruly_memory: bool,
    /// Percent of its period by which edges of the PE clock come early or late; bits that cross then arrive late by lot
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=i64::from(Clocks::MOST_JITTER)), help_heading = "Platform")]
    pub(super) jitter: u8,
    #[command(flatten)]
    pub(super) fault: FaultArgs,
    /// Seed of drawn tensors and of all random choices
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) carrier: Carrier,
    /// Verilate the whole design at once, with the wrappers that connect its parts as they are emitted. It builds longer:
    /// for small designs. Otherwise parts are verilated alone and connected by the harness, with the same cycles
    #[arg(long, help_heading = "Engine")]
    pub(super) whole: bool,
    /// Run the device as a host does: tensors in memory, registers over AXI4-Lite, outputs read back, all AXI channels
    /// judged; the core behind its front is what --engine says, and --lockstep compares the ports of the core
    #[arg(long, help_heading = "Platform")]
    pub(super) device: bool,
    /// Also call the device as an engine does, by the doorbell with queries, outputs and record in the memory of a host behind
    /// a link, and say how long each part of a call takes: a file of such a host, or pcie3_x16 for the one that ships with the
    /// program
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Platform")]
    pub(super) host_model: Option<PathBuf>,
    /// Count cycles only, on the model: no number is drawn, computed or compared
    #[arg(long, conflicts_with_all = ["tensors", "output", "lockstep", "logits"], help_heading = "Platform")]
    pub(super) timing: bool,
    /// Write the outputs as safetensors: `attention` of shape [heads, streams, head_dim], F16
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Output")]
    pub(super) output: Option<PathBuf>,
    /// Write queries, keys and values as the design has them as safetensors, which --tensors reads: keys and values in
    /// the format of the cache, with their scales, as layer 0
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["timing", "steps"], help_heading = "Output")]
    pub(super) save_tensors: Option<PathBuf>,
    /// Write memory, register accesses and outputs for bench/tb.v, a bench for any simulator, into a folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with_all = ["timing", "partials", "steps"], help_heading = "Output")]
    pub(super) vectors: Option<PathBuf>,
    /// Write the timeline of the stages as SVG and PNG into a folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = "Output")]
    pub(super) plot: Option<PathBuf>,
    /// Write the checks and their results as JUnit's XML, for CI servers; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Output")]
    pub(super) junit: Option<PathBuf>,
    /// Levels of hierarchy in the waves, counted from the top [default: all]
    #[arg(long, value_name = "LEVELS", value_parser = clap::value_parser!(u32).range(1..=90), help_heading = "Output")]
    wave_depth: Option<u32>,
}

/// Where options have an effect.
pub(in crate::cli) const SCOPES: &[Scope] = &[
    Scope { of: &["sm_scale"], only: &[Only::Without(&["timing"])], why: "cycles do not depend on it" },
    Scope { of: &["fit"], only: &[Only::With(&["tensors", "steps"])], why: "" },
    Scope { of: &["steps"], only: &[Only::With(&["lengths", "trace"])], why: "" },
    Scope { of: &["begin", "end"], only: &[Only::With(&["steps"])], why: "" },
    Scope { of: &["prefix"], only: &[Only::With(&["lengths"])], why: "" },
    Scope { of: &["query"], only: &[Only::Without(&["timing"])], why: "cycles do not depend on it" },
    Scope { of: &["host_model"], only: &[Only::With(&["device"])], why: "" },
    Scope {
        of: &["host_model"],
        only: &[Only::Without(&["steps", "trace", "partials", "faults", "wave"])],
        why: "it is of one call, after the run",
    },
    Scope { of: &["jitter"], only: &[Only::OnVerilog], why: "the model has no clock jitter" },
    Scope { of: &["wave_depth"], only: &[Only::With(&["wave"])], why: "" },
    Scope {
        of: &["whole"],
        only: &[Only::Without(&["wave"]), Only::With(&["lockstep"])],
        why: "waves are of the whole",
    },
    Scope {
        of: &["whole"],
        only: &[Only::Without(&["device"]), Only::Without(&["lockstep"])],
        why: "the ports of the core within the whole device cannot be compared",
    },
    Scope {
        of: &["faults"],
        only: &[Only::Without(&["steps", "partials", "timing", "output", "save_tensors", "vectors", "plot"])],
        why: "a run with faults has no outputs to keep",
    },
    Scope {
        of: &["wave"],
        only: &[Only::Without(&["device"]), Only::Without(&["lockstep"])],
        why: "waves of a difference need the core by itself",
    },
    Scope {
        of: &["wave_depth"],
        only: &[Only::Without(&["lockstep"])],
        why: "waves of a difference have all levels",
    },
];

/// Tokens over all heads from which a better optimised build outweighs its longer compilation.
const LONG_RUN: u64 = 60_000;

/// Default number of drawn tokens.
const DRAWN: u32 = 512;

impl Args {
    /// The input files, each with its meaning for messages.
    pub(super) fn files(&self) -> Vec<(&'static str, &Path)> {
        let tensors = self.tensors.as_deref().map(|path| ("the file of --tensors", path));
        let trace = self.trace.file().map(|path| ("the file of --trace", path));
        [("the configuration", self.config.as_path())].into_iter().chain(tensors).chain(trace).collect()
    }

    /// External memory as the options have it.
    pub(super) fn behaviour(&self, design: &Design) -> Behaviour {
        let behaviour = Behaviour { seed: self.seed, ..Behaviour::of(design) };
        if self.unruly_memory {
            behaviour.unruly(self.seed)
        } else {
            behaviour
        }
    }

    /// Refuses cycles without numbers on Verilog.
    pub(super) fn timing_fits(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !self.timing || self.carrier.is_model(),
            "--timing leaves out the numbers, which the Verilog computes anyway\n  help: add --engine model"
        );
        Ok(())
    }

    /// The design and its tensors, as the layer and the options of the call have them.
    pub(super) fn inputs(&self, ui: &Ui) -> anyhow::Result<(Design, Tensors)> {
        let (design, tensors) = self.given(ui)?;
        let tensors = self.scaled(&design, tensors)?;
        Ok((design, tensors))
    }

    /// Drawn tensors with the sinks of their layer.
    pub(super) fn sunk(&self, design: &Design, tensors: Tensors) -> Tensors {
        match design.model.sinks && !tensors.is_blank() {
            true => tensors.with_sinks(synthetic_sinks(self.seed, design.model.heads as usize)),
            false => tensors,
        }
    }

    /// Tensors with the scale of logits that is asked for.
    pub(super) fn scaled(&self, design: &Design, tensors: Tensors) -> anyhow::Result<Tensors> {
        let Some(scale) = self.sm_scale else { return Ok(tensors) };
        anyhow::ensure!(
            scale.is_normal() && scale > 0.0,
            "--sm-scale is {scale}, and must be a positive number\n  help: 1 over the root of head_dim is the default"
        );
        anyhow::ensure!(
            design.pe.is_scaled(),
            "--sm-scale needs a design that takes scales\n  help: set kv.scales = \"head\""
        );
        let scaled = tensors.with_sm_scale(scale.into());
        let fits = (0..design.model.heads as usize)
            .all(|head| HeadScales::of(design, scaled.scales(head).into()).is_some());
        anyhow::ensure!(
            fits,
            "--sm-scale is {scale}, which with the factors of the keys is beyond what the arrays apply\n  help: multiply the \
             queries by a power of two, and divide the scale by it"
        );
        Ok(scaled)
    }

    /// The design for the layer and the window of the call.
    pub(super) fn of_call(&self, design: Design) -> anyhow::Result<Design> {
        // A window of the call is that of any layer.
        let kind = |kind: LayerKind| LayerKind { window: self.window.or(kind.window), ..kind };
        let first = kind(design.layer_kind(0));
        anyhow::ensure!(
            self.layer == 0
                || self.tensors.is_some()
                || design.layer_kinds().iter().any(|(other, ..)| kind(*other) != first),
            "--layer has no effect: there is no file, and all layers of the model are alike in this run\n  help: leave it \
             out, give --tensors, or the kinds of layers in model.groups"
        );
        let design = design.of_layer(self.layer);
        Ok(match self.window {
            Some(window) => design.with_window(window),
            None => design,
        })
    }

    /// The design, and tensors of the file or drawn.
    fn given(&self, ui: &Ui) -> anyhow::Result<(Design, Tensors)> {
        let (design, _) = crate::cli::load::load(&self.config, ui)?;
        let design = self.of_call(design)?;
        if !self.lengths.is_empty() && !self.fit {
            lengths_fit(&design, (&self.lengths, self.grow.prefix))?;
        }
        let Some(path) = &self.tensors else {
            let model = &design.model;
            let drawn = self.tokens.unwrap_or(model.max_tokens.min(DRAWN));
            let tokens = if self.lengths.is_empty() { drawn } else { self.lengths.iter().sum() };
            anyhow::ensure!(
                !self.lengths.is_empty() || (1..=model.max_tokens).contains(&tokens),
                "--tokens is {tokens}, and must be 1 to {}\n  help: model.max_tokens of the configuration is the longest",
                model.max_tokens
            );
            if self.timing {
                let blank = self.blank(&design, tokens);
                return Ok((design, blank));
            }
            let drawn = Synthetic {
                seed: self.seed,
                heads: model.heads as usize,
                kv_heads: model.kv_heads as usize,
                positions: self.query + self.streams() as usize,
                tokens: tokens as usize,
                head_dim: model.head_dim as usize,
                logits: self.logits,
            };
            let mut tensors = synthetic(&drawn);
            let begun = |at: usize| self.lengths[..at].iter().sum::<u32>();
            let starts: Vec<u32> = (1..self.lengths.len()).map(begun).collect();
            tensors.share_prefix(&starts, self.grow.prefix);
            let tensors = self.sunk(&design, tensors.of_design(&design));
            return Ok((design, tensors));
        };
        let tensors = Tensors::read(path, self.layer).with_context(|| path.display().to_string())?;
        if tensors.rounded > 0 {
            ui.note(format_args!(
                "{} numbers of {} are not of FP16, and were rounded",
                tensors.rounded,
                path.display()
            ));
        }
        let design = if self.fit { self.fitted(&design, &tensors)? } else { design };
        let from = tensors.format;
        let tensors = tensors.in_format_of(&design);
        if (from.bytes(), tensors.format.bytes()) == (2, 1) {
            let factors = if design.pe.is_scaled() { ", each KV head by factors of its own" } else { "" };
            ui.note(format_args!("keys and values are quantised to {}{factors}", tensors.format.name()));
        }
        let (head, row) = (tensors.head_dim, design.pe.head_dim as usize);
        if head != design.model.head_dim as usize || head >= row {
            // Of another shape than the design's: the job says so.
            return Ok((design, tensors));
        }
        ui.note(format_args!(
            "rows of {head} elements are filled up with zeros to {row}; the scale of logits stays 1 / sqrt({head})"
        ));
        Ok((design, tensors.filled_up(row)))
    }

    /// Streams of the run.
    pub(super) fn streams(&self) -> u32 {
        if self.lengths.is_empty() {
            self.batch
        } else {
            self.lengths.len() as u32
        }
    }

    /// The lengths as they were typed.
    pub(super) fn words(&self) -> String {
        self.lengths.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    }

    /// Tensors of the shape of the design, without numbers.
    fn blank(&self, design: &Design, tokens: u32) -> Tensors {
        let model = &design.model;
        let positions = self.query + self.streams() as usize;
        let (heads, kv_heads) = (model.heads as usize, model.kv_heads as usize);
        let shape = [heads, kv_heads, positions, tokens as usize, model.head_dim as usize];
        Tensors::blank(shape).of_design(design)
    }

    /// The design with heads, row and context of the tensors.
    fn fitted(&self, design: &Design, tensors: &Tensors) -> anyhow::Result<Design> {
        let mut config = design.configuration().clone();
        config.model.heads = tensors.heads as u32;
        config.model.kv_heads = tensors.kv_heads as u32;
        if tensors.format.bytes() == 1 && tensors.format != config.kv.format {
            (config.kv.format, config.kv.bytes_per_element, config.kv.scales) =
                (tensors.format, None, KvScales::Auto);
        }
        let longest = self.lengths.iter().copied().max().unwrap_or(tensors.tokens as u32);
        config.model.max_tokens = longest.max(1);
        config.model.max_streams = config.model.max_streams.max(self.streams());
        let head_dim = tensors.head_dim as u32;
        config.pe.head_dim = row_of(head_dim).with_context(|| {
            format!("the tensors have heads of {head_dim} elements, and a row of the largest design has 256")
        })?;
        config.model.head_dim = (config.pe.head_dim != head_dim).then_some(head_dim);
        let fitted = Design::from_config(&design.name, &config);
        self.of_call(fitted.with_context(|| format!("{} does not fit the tensors", self.config.display()))?)
    }

    /// The clocks of the design.
    pub(super) fn clocks(&self, design: &Design) -> Clocks {
        let clock = &design.clock;
        let given =
            Clocks { noc_mhz: clock.noc_mhz, pe_mhz: clock.pe_mhz, jitter: self.jitter, seed: self.seed };
        self.fault.clocks(given)
    }

    /// Form of the build, and its compilation.
    pub(super) fn build(&self, job: &Job) -> (BuildForm, RunLength) {
        let tokens = self.lengths.iter().copied().map(u64::from).sum::<u64>().max(job.longest().into());
        self.build_of(job.design, tokens)
    }

    /// The same for so many attended tokens of a design.
    pub(super) fn build_of(&self, design: &Design, tokens: u64) -> (BuildForm, RunLength) {
        let length = RunLength::of(tokens * u64::from(design.model.heads), LONG_RUN);
        if self.carrier.waves().is_some() {
            let form = if self.device { BuildForm::WholeDevice } else { BuildForm::WholeCore };
            return (form, length.traced(self.wave_depth));
        }
        let form = if self.whole && self.device {
            BuildForm::WholeDevice
        } else if self.whole {
            BuildForm::WholeCore
        } else if self.clocks(design).in_step() {
            BuildForm::CorePieces
        } else {
            BuildForm::CorePiecesTwoClocks
        };
        (form, length)
    }

    /// The job on this design, with the choice of its mapping if the workload decides.
    pub(super) fn job<'a>(
        &self,
        design: &'a Design,
        tensors: &'a Tensors,
    ) -> Result<(Job<'a>, Option<Choice>), JobError> {
        let fixed = self.mapping.fixed();
        let mapping = fixed.unwrap_or(Mapping::RowAligned);
        let job = if self.lengths.is_empty() {
            Job::new(design, tensors, (self.query, self.batch), mapping, self.sharing)?
        } else {
            Job::ragged(design, tensors, self.query, &self.lengths, mapping, self.sharing)?
                .with_prefix(self.grow.prefix)?
        };
        if fixed.is_some() {
            return Ok((job, None));
        }
        let choice = Choice::new(design, &job.descriptors()?);
        Ok((job.mapped(&[choice.mapping]), Some(choice)))
    }

    /// Title of a picture.
    pub(super) fn title(&self, job: &Job) -> String {
        let tokens = match &job.own {
            Some(_) => format!("{} tokens in {} streams", self.words(), self.streams()),
            None => format!("{} tokens", job.longest()),
        };
        format!(
            "{} heads of {}, {tokens}, {}",
            job.tensors.heads,
            job.tensors.model_dim,
            job.mappings[0].name()
        )
    }

    /// The command that repeats these figures.
    pub(super) fn command(&self, job: &Job) -> String {
        let mut text = format!("meshkv run {}", self.config.display());
        match &self.tensors {
            Some(path) => {
                text += &format!(" --tensors {} --layer {}", path.display(), self.layer);
                text += if self.fit { " --fit" } else { "" };
            }
            None if job.own.is_some() && self.timing => {}
            None if job.own.is_some() => text += &format!(" --logits {}", self.logits.name()),
            None if self.timing => text += &format!(" --tokens {}", job.tensors.tokens),
            None => text += &format!(" --tokens {} --logits {}", job.tensors.tokens, self.logits.name()),
        }
        if self.tensors.is_none() && self.layer > 0 {
            text += &format!(" --layer {}", self.layer);
        }
        for (flag, value) in [
            ("window", self.window.map(|window| window.to_string())),
            ("sm-scale", self.sm_scale.map(|scale| scale.to_string())),
        ] {
            text += &value.map_or(String::new(), |value| format!(" --{flag} {value}"));
        }
        let streams = match &job.own {
            Some(_) => format!("--lengths {}{}", self.words(), self.grow.prefix_words()),
            None => format!("--batch {}", self.batch),
        };
        if !self.timing {
            text += &format!(" --query {}", self.query);
        }
        text += &format!(
            " {streams} --mapping {} --sharing {} --seed {}",
            self.mapping.name(),
            self.sharing.name(),
            self.seed
        );
        if let Some(cards) = self.partials {
            text += &format!(" --partials {cards}");
        }
        text + &self.platform_words()
    }

    /// Options of platform and engine of the command that repeats a run.
    pub(super) fn platform_words(&self) -> String {
        let mut text = String::new();
        if self.stall > 0 {
            text += &format!(" --stall {}", self.stall);
        }
        if self.jitter > 0 {
            text += &format!(" --jitter {}", self.jitter);
        }
        for (given, flag) in [
            (self.timing, "timing"),
            (self.no_refresh, "no-refresh"),
            (self.unruly_memory, "unruly-memory"),
            (self.device, "device"),
        ] {
            if given {
                text += &format!(" --{flag}");
            }
        }
        text + &self.fault.words() + &self.carrier.words()
    }
}
