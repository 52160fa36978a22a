//! Arguments of `meshkv decode`, and the job that follows from them.

use crate::cli::simulate::engine::Carrier;
use crate::cli::simulate::reported::faults::FaultArgs;
use crate::config::{AskedMapping, Mapping, Sharing};
use crate::cosim::faults::Injected;
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::decode::{
    batch_of, default_segments_of, stream_lengths, Lengths, Pace, Plan, StreamLength, Workload, WorkloadError,
};
use crate::design::Design;
use std::fmt;
use std::path::PathBuf;

/// Run a decode step, or a sample of one, on the emitted Verilog or on its model
///
/// The whole fabric runs, the same to the cycle on both engines: column controllers, homes, routers, requesters, with models of
/// the external memory behind AXI4, of the arrays and of the reduce roots. Time is counted from the first word of queries to the last
/// flit of outputs. Every tile must get every flit of
/// every slice its heads need exactly once, as the memory holds it, and every partial result must reach its root.
/// Exit code 1 if not. A whole step of a large model takes hours on the Verilog: layers and segments are sampled, and
/// what that says of a whole step is printed apart.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  meshkv decode configs/tiny.toml
  meshkv decode configs/meshkv.toml --tokens 32768 --segments 64
  meshkv decode configs/mistral_7b.toml --batch 8 --prefix 4096 --mapping stream-striped --json | jq .traffic
  meshkv decode configs/tiny.toml --steps 20 --stride 2 --plot out
  meshkv sim decode configs/meshkv.toml --tokens 32768 --segments all      a layer, on the model
  meshkv decode configs/tiny.toml --lockstep                               on both, compared in every cycle
  meshkv sim decode configs/tiny.toml --fault decerr@hbm1:5                a memory that fails, and its report")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    pub(super) config: PathBuf,
    /// Tokens in the cache of every stream [default: model.max_tokens]
    #[arg(long, help_heading = "Workload", conflicts_with = "lengths")]
    tokens: Option<u32>,
    /// Tokens of each stream: a list such as 512,2048, or uniform:LEAST:MOST, normal:MEAN:DEVIATION, log-normal:MEDIAN:SIGMA,
    /// drawn with the seed
    #[arg(long, value_name = "RULE", help_heading = "Workload")]
    lengths: Option<Lengths>,
    /// Streams that decode at once [default: those of a list, else 1]
    #[arg(long, value_name = "STREAMS", help_heading = "Workload")]
    batch: Option<u32>,
    /// Tokens that all streams have in common from the first on; whole segments of them are shared, and all of them where
    /// it is all tokens
    #[arg(
        long,
        value_name = "TOKENS",
        default_value_t = 0,
        help_heading = "Workload",
        conflicts_with = "prefixes"
    )]
    prefix: u32,
    /// Common tokens of each stream, in the forms of --lengths; those of a shorter prefix are the first of a longer one
    #[arg(long, value_name = "RULE", help_heading = "Workload")]
    prefixes: Option<Lengths>,
    /// Which tile computes a head
    #[arg(long, value_enum, default_value_t = AskedMapping::Auto, help_heading = "Workload")]
    mapping: AskedMapping,
    /// Heads that receive a slice
    #[arg(long, value_enum, default_value_t = Sharing::KvHead, help_heading = "Workload")]
    sharing: Sharing,
    /// Attend to every N-th segment only
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Workload")]
    stride: u32,
    /// The last token of every stream is new: the run has its K and V, and writes them into the cache (kv.append)
    #[arg(long, help_heading = "Workload")]
    append: bool,
    /// Segments of a layer that are run, from the first on, or `all` [default: two rounds over the homes of a layer and 16 at least]
    #[arg(long, value_name = "N|all", help_heading = "Sample")]
    segments: Option<Count>,
    /// Layers that are run, from the first on, or `all`
    #[arg(long, value_name = "N|all", default_value = "1", help_heading = "Sample")]
    layers: Count,
    /// Decode steps, one after the other; homes may swap between them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Sample")]
    steps: u32,
    /// Of 256 cycles, those in which a tile takes nothing
    #[arg(long, value_name = "OF_256", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=250), help_heading = "Platform")]
    stall: u8,
    /// Cycles a tile takes for a flit
    #[arg(long, value_name = "CYCLES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64), help_heading = "Platform")]
    flit_cycles: u32,
    /// External memory that is never refreshed, whatever `memory.refresh` says
    #[arg(long, help_heading = "Platform")]
    pub(super) no_refresh: bool,
    /// External memory out of order, with gaps and refusals, instead of at its best
    #[arg(long, help_heading = "Platform")]
    unruly_memory: bool,
    /// Kind of external memory, whose bandwidth, latency and energy are those of the file of energies [default: as
    /// the configuration has it, with the energy of hbm]
    #[arg(long, value_name = "NAME", help_heading = "Platform")]
    pub(super) tier: Option<String>,
    /// File of energies and tiers instead of the one that ships with the program (energy/published.toml)
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Platform")]
    pub(super) energy: Option<PathBuf>,
    #[command(flatten)]
    pub(super) fault: FaultArgs,
    /// Seed of the memory's content and of all random choices
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) carrier: Carrier,
    /// Verilate the whole design at once, with the wrappers that connect its parts as they are emitted. It builds longer:
    /// for small designs. Otherwise parts are verilated alone and connected by the harness, with the same cycles
    #[arg(long, help_heading = "Engine")]
    pub(super) whole: bool,
    /// Write link-utilisation as SVG and PNG into a folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = "Output")]
    pub(super) plot: Option<PathBuf>,
}

/// A number, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    All,
    Some(u32),
}

impl std::str::FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Count, String> {
        match text {
            "all" => Ok(Count::All),
            number => number.parse().map(Count::Some).map_err(|e| format!("{e}; give a number, or `all`")),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::All => f.write_str("all"),
            Count::Some(number) => number.fmt(f),
        }
    }
}

impl Args {
    /// The mapping that the user chose; none if the workload decides.
    pub(super) fn mapping(&self) -> Option<Mapping> {
        self.mapping.fixed()
    }

    /// The workload of the run, with `row-aligned` for a mapping that is to be chosen, and the lengths of its streams.
    pub(super) fn workload(&self, design: &Design) -> Result<(Workload, Vec<StreamLength>), WorkloadError> {
        let model = &design.model;
        let rules = (self.lengths.as_ref(), self.prefixes.as_ref());
        let batch = batch_of(self.batch, [rules.0, rules.1]);
        let alike = StreamLength { tokens: self.tokens.unwrap_or(model.max_tokens), prefix: self.prefix };
        let streams = stream_lengths(rules, alike, (batch, model.max_tokens), self.seed)?;
        let all = Workload {
            tokens: alike.tokens,
            batch,
            prefix: self.prefix,
            mapping: self.mapping().unwrap_or(Mapping::RowAligned),
            sharing: self.sharing,
            segments: None,
            layers: match self.layers {
                Count::All => model.layers,
                Count::Some(layers) => layers,
            },
            stride: self.stride,
            append: self.append,
        };
        let segments = match self.segments {
            Some(Count::All) => None,
            Some(Count::Some(segments)) => Some(segments),
            None => Some(default_segments_of(design, &all, &streams)?),
        };
        Ok((Workload { segments, ..all }, streams))
    }

    /// Options of a sample that loads the homes as the whole layer does, where the sample of this run does not.
    pub(super) fn more_even(
        &self,
        design: &Design,
        load: &Workload,
        streams: &[StreamLength],
    ) -> &'static str {
        let rounds = default_segments_of(design, load, streams).ok();
        match self.segments {
            Some(Count::Some(segments)) if rounds != Some(segments) => {
                "Leave --segments out to sample whole rounds over the homes of a layer."
            }
            _ => "--segments all runs every segment of a layer.",
        }
    }

    /// The plan with the platform options applied.
    pub(super) fn plan(&self, plan: Plan) -> Plan {
        let memory = if self.unruly_memory { plan.memory.unruly(self.seed) } else { plan.memory };
        let pace = Pace { flit_cycles: self.flit_cycles, stall: self.stall };
        let faults = self.fault.faults.iter().filter_map(Injected::of_external).cloned().collect();
        let (memory, clocks) = (Behaviour { faults, ..memory }, self.fault.clocks(plan.clocks));
        Plan { steps: self.steps, pace, memory, clocks, ..plan }
    }

    /// The warning about caches that the external memory cannot hold.
    pub(super) fn beyond_capacity(&self, design: &Design, load: &Workload, bytes: u64) -> Option<String> {
        let (capacity, gib) = (design.memory.capacity_gib, bytes as f64 / f64::from(1 << 30));
        let way_out = match load.batch {
            1 => "lower --tokens",
            _ => "lower --tokens or --batch, or give the streams a longer common --prefix, which is stored once",
        };
        (gib > capacity).then(|| {
            format!(
                "{}: the caches of {} stream{} of {} tokens take {gib:.1} GiB, more than memory.capacity_gib = {capacity}; \
                 the card cannot hold them\n  help: {way_out}",
                self.config.display(),
                load.batch,
                if load.batch == 1 { "" } else { "s" },
                load.tokens
            )
        })
    }

    /// Name of the sharing.
    pub(super) fn sharing(&self) -> &'static str {
        self.sharing.name()
    }

    /// Title of a picture.
    pub(super) fn title(&self, load: &Workload) -> String {
        let (mapping, sharing) = (load.mapping.name(), self.sharing());
        let tokens = self.tokens.map_or(String::new(), |tokens| format!("{tokens} tokens, "));
        let lengths = self.lengths.as_ref().map_or(String::new(), |rule| format!("{rule} tokens, "));
        let streams = if load.batch == 1 { "stream" } else { "streams" };
        format!("decode, {tokens}{lengths}{} {streams}, {mapping}, {sharing} sharing", load.batch)
    }

    /// The command that repeats these figures.
    pub(super) fn command(&self, load: &Workload) -> String {
        let (mapping, sharing) = (self.mapping.name(), self.sharing());
        let segments = load.segments.map_or(Count::All, Count::Some);
        let mut text = format!(
            "meshkv decode {} {} --batch {} --mapping {mapping} --sharing {sharing} --segments {segments} --layers {} \
             --seed {}",
            self.config.display(),
            self.lengths.as_ref().map_or(format!("--tokens {}", load.tokens), |rule| format!("--lengths {rule}")),
            load.batch,
            load.layers,
            self.seed
        );
        for (flag, value, default) in [
            ("prefix", self.prefix, 0),
            ("stride", self.stride, 1),
            ("steps", self.steps, 1),
            ("stall", u32::from(self.stall), 0),
            ("flit-cycles", self.flit_cycles, 1),
        ] {
            if value != default {
                text += &format!(" --{flag} {value}");
            }
        }
        for (given, flag) in
            [(self.append, "append"), (self.no_refresh, "no-refresh"), (self.unruly_memory, "unruly-memory")]
        {
            if given {
                text += &format!(" --{flag}");
            }
        }
        if let Some(rule) = &self.prefixes {
            text += &format!(" --prefixes {rule}");
        }
        if let Some(tier) = &self.tier {
            text += &format!(" --tier {tier}");
        }
        if let Some(file) = &self.energy {
            text += &format!(" --energy {}", file.display());
        }
        text + &self.fault.words() + &self.carrier.words()
    }
}
