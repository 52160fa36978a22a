//! The options of `meshkv cosim` and `meshkv sim` and the traffic they ask for.

use crate::cli::program::scope::{Only, Scope};
use crate::cli::simulate::cosim::dut_form::DutForm;
use crate::cli::simulate::engine::Carrier;
use crate::cosim::traffic::generator::{Shape, Traffic, VirtualNetworks};
use crate::cosim::traffic::matrix::Matrix;
use crate::cosim::traffic::pattern::{Hotspot, PatternKind, HOTSPOT_SHARE};
use crate::cosim::workloads::network::Phases;
use clap::builder::TypedValueParser;
use std::path::{Path, PathBuf};

/// Default number of destinations of a multicast packet.
const DEFAULT_FANOUT: u32 = 8;

/// Format of a trace, below the help of a subcommand that takes [`Options`].
pub(in crate::cli) const TRACE_HELP: &str = "\
A trace has a line for each packet, sorted by cycle; tiles are y * cols + x:
  CSV         cycle,source,destinations,class,flits,tag
              12,3,1;5;9,KV_DATA,16,77
  JSON Lines  {\"cycle\": 12, \"source\": 3, \"destinations\": [1, 5, 9], \"class\": \"KV_DATA\", \"flits\": 16, \"tag\": 77}";

// No doc comment: it would become that of the subcommand.
#[allow(missing_docs)]
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Configuration file
    // None if a subcommand follows, which has its own.
    #[arg(value_name = "CONFIG", required = true, value_hint = clap::ValueHint::FilePath)]
    config: Option<PathBuf>,
    /// Pattern of destinations; a tile that the pattern maps to itself sends nothing
    #[arg(long, value_enum, default_value_t = PatternKind::Uniform, conflicts_with = "trace", help_heading = "Traffic")]
    traffic: PatternKind,
    /// Unicast with relative rates between tiles: CSV, a line a source, a column a destination
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["traffic", "fanout", "hotspot", "trace"], help_heading = "Traffic")]
    pub(super) matrix: Option<PathBuf>,
    /// Offered load of each sending tile (of --matrix, of the one that sends most), in injected flits per cycle, 0 to 1
    #[arg(long, default_value_t = 0.1, conflicts_with_all = ["trace", "sweep_load"], help_heading = "Traffic")]
    pub(super) load: f64,
    /// Flits of a packet; on VN1 that many flits of one tag
    #[arg(
        long,
        default_value_t = 1,
        value_name = "FLITS",
        conflicts_with = "trace",
        help_heading = "Traffic"
    )]
    pub(super) packet: u32,
    /// Virtual networks of a unicast pattern: PART on 0, KV_FETCH and KV_DATA on 1, a coin for each packet, or all three
    /// classes in proportion to their virtual channels [default: 0]
    #[arg(long, value_enum, conflicts_with = "trace", help_heading = "Traffic")]
    vn: Option<VirtualNetworks>,
    /// Destinations of a multicast packet: random, distinct, never the source [default: 8, or all others of a smaller mesh]
    #[arg(long, value_name = "TILES", conflicts_with = "trace", help_heading = "Traffic")]
    pub(super) fanout: Option<u32>,
    /// Tile that draws a share of all packets (0.1 if left out); may be repeated [default: the centre]
    #[arg(long, value_name = "X,Y[:SHARE]", value_parser = hotspot, conflicts_with = "trace", help_heading = "Traffic")]
    hotspot: Vec<Hotspot>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1, conflicts_with = "trace", help_heading = "Traffic")]
    pub(super) seed: u64,
    /// Replay packets from a CSV or JSON Lines file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Traffic")]
    pub(super) trace: Option<PathBuf>,
    /// Replay the trace at so many times its rate: its cycles are divided by it, its order stays [default: 1]
    #[arg(long, value_name = "X", value_parser = rate, help_heading = "Traffic")]
    pub(super) trace_rate: Option<f64>,
    /// Cycles in which packets are generated that count
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "trace", help_heading = "Measurement")]
    pub(super) cycles: u64,
    /// Cycles before that, to fill the network
    #[arg(long, default_value_t = 2_000, conflicts_with = "trace", help_heading = "Measurement")]
    pub(super) warmup: u64,
    /// Most cycles after that for the counted packets to arrive [default: as --cycles]
    #[arg(long, value_name = "CYCLES", conflicts_with = "trace", help_heading = "Measurement")]
    pub(super) drain_limit: Option<u64>,
    /// Find saturation between two loads: the highest with latency below three times that without load
    #[arg(long, value_name = "FROM:TO", value_parser = range, conflicts_with_all = ["trace", "wave"], help_heading = "Measurement")]
    pub(super) sweep_load: Option<(f64, f64)>,
    /// Mean latency at which a load counts as saturated [default: three times that without load]
    #[arg(long, value_name = "CYCLES", value_parser = positive, help_heading = "Measurement")]
    pub(super) latency_limit: Option<f64>,
    /// Write link-utilisation and, of a sweep, latency-load as SVG and PNG into a folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = "Output")]
    pub(super) plot: Option<PathBuf>,
    /// Write each packet that counts with its times, a row for each destination: .parquet or .csv; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, value_parser = clap::builder::PathBufValueParser::new().try_map(table), conflicts_with = "sweep_load", help_heading = "Output")]
    pub(super) packets: Option<PathBuf>,
    /// Write the checks and their results as JUnit's XML, for CI servers; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Output")]
    pub(super) junit: Option<PathBuf>,
    #[command(flatten)]
    pub(super) carrier: Carrier,
    /// Part of the fabric to verilate; cycles are equal for both [default: tile; with --wave mesh]
    #[arg(long, value_enum, help_heading = "Engine")]
    pub(super) dut: Option<DutForm>,
}

/// Where options of traffic have an effect.
pub(in crate::cli) const SCOPES: &[Scope] = &[
    Scope { of: &["fanout"], only: &[Only::Where("traffic", &["multicast", "mixed"])], why: "" },
    Scope {
        of: &["vn"],
        only: &[Only::Unless("traffic", &["multicast", "mixed"])],
        why: "the classes of these packets have their networks",
    },
    Scope { of: &["hotspot"], only: &[Only::Where("traffic", &["hotspot"])], why: "" },
    Scope { of: &["trace_rate"], only: &[Only::With(&["trace"])], why: "" },
    Scope { of: &["latency_limit"], only: &[Only::With(&["sweep_load"])], why: "" },
    Scope { of: &["dut"], only: &[Only::OnVerilog], why: "the model needs no Verilator" },
    Scope {
        of: &["lockstep"],
        only: &[Only::Unless("dut", &["mesh"])],
        why: "a mesh verilated as one keeps its links to itself, and shows the same flits in the same cycles",
    },
];

impl Options {
    /// The configuration file.
    ///
    /// # Panics
    /// If a subcommand is run, which has its own.
    pub(super) fn config(&self) -> &Path {
        self.config.as_deref().expect("the command line has a configuration where it has no subcommand")
    }

    /// The input files, each with its meaning for messages.
    pub(super) fn inputs(&self) -> Vec<(&'static str, &Path)> {
        let trace = self.trace.as_deref().map(|path| ("the trace", path));
        let matrix = self.matrix.as_deref().map(|path| ("the matrix", path));
        [("the configuration", self.config())].into_iter().chain(trace).chain(matrix).collect()
    }

    /// Virtual networks of a unicast pattern.
    fn vn(&self) -> VirtualNetworks {
        self.vn.unwrap_or(VirtualNetworks::Vn0)
    }

    /// The selected synthetic traffic, but for the rates of a matrix.
    pub(super) fn traffic(&self) -> Traffic {
        let fanout = self.fanout.unwrap_or(DEFAULT_FANOUT);
        let shape = Shape::of(self.traffic, self.hotspot.clone(), self.vn(), fanout);
        Traffic { shape, load: self.load, packet: self.packet, seed: self.seed }
    }

    /// Seed of the traffic; none for a trace.
    pub(super) fn drawn_from(&self) -> Option<u64> {
        self.trace.is_none().then_some(self.seed)
    }

    /// The same on a mesh with so many tiles, with the rates of `--matrix`: the default fan-out is no more than the
    /// other tiles.
    pub(super) fn traffic_on(&self, tiles: usize, rates: Option<Matrix>) -> Traffic {
        let mut traffic = self.traffic();
        if let Some(rates) = rates {
            traffic.shape = Shape::Matrix { rates, vn: self.vn() };
        }
        if let (None, Shape::Multicast { fanout } | Shape::Mixed { fanout }) =
            (self.fanout, &mut traffic.shape)
        {
            *fanout = (*fanout).min(tiles as u32 - 1);
        }
        traffic
    }

    /// The selected phases.
    pub(super) fn phases(&self) -> Phases {
        let drain_limit = self.drain_limit.unwrap_or(self.cycles);
        Phases { warmup: self.warmup, measure: self.cycles, drain_limit, latency_limit: None }
    }
}

fn hotspot(text: &str) -> Result<Hotspot, String> {
    let read = || {
        let (place, share) = text.split_once(':').map_or((text, None), |(place, share)| (place, Some(share)));
        let (x, y) = place.split_once(',')?;
        let share = share.map_or(Some(HOTSPOT_SHARE), |share| share.trim().parse().ok())?;
        Some(Hotspot { x: x.trim().parse().ok()?, y: y.trim().parse().ok()?, share })
    };
    read().ok_or_else(|| "write column, row and, if wanted, a share, for example 3,3:0.1".to_owned())
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let read = || {
        let (from, to) = text.split_once(':')?;
        let range: (f64, f64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        (range.0 > 0.0 && range.0 < range.1 && range.1 <= 1.0).then_some(range)
    };
    read().ok_or_else(|| "write two loads above 0 and up to 1, rising, for example 0.05:1.0".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    let found = text.trim().parse().ok().filter(|&rate: &f64| rate > 0.0 && rate.is_finite());
    found.ok_or_else(|| "write a number above 0: 2 for twice the rate, 0.5 for half of it".to_owned())
}

/// A file of packets, whose ending selects the format.
fn table(path: PathBuf) -> Result<PathBuf, String> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending {
        Some("parquet" | "csv") => Ok(path),
        _ => Err("the ending selects the format: name a file that ends in .parquet or .csv".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let found = text.trim().parse().ok().filter(|&cycles: &f64| cycles > 0.0 && cycles.is_finite());
    found.ok_or_else(|| "write a number of cycles above 0, for example 73".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::cli::simulate::cosim::args::*;
    use crate::config::Engine;
    use crate::cosim::build::BuildForm;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn parse(line: &str) -> Result<Options, String> {
        parse_for(Engine::Rtl, line)
    }

    fn parse_for(default: Engine, line: &str) -> Result<Options, String> {
        let words = std::iter::once("cosim").chain(line.split_whitespace());
        let line = Line::try_parse_from(words).map_err(|e| e.to_string())?;
        Ok(line.options.with_engine(default))
    }

    #[test]
    fn the_printed_command_asks_for_the_same_run() {
        for line in [
            "a.toml",
            "a.toml --traffic hotspot --hotspot 3,3 --hotspot 4,4:0.2 --vn both --packet 4 --load 0.15",
            "a.toml --traffic multicast --fanout 63 --cycles 500 --warmup 7 --drain-limit 90 --seed 9",
            "a.toml --traffic bit-reverse --sweep-load 0.05:1",
            "a.toml --trace t.csv",
            "a.toml --trace t.csv --trace-rate 2.5",
            "a.toml --matrix m.csv --vn 1 --load 0.3 --packet 2",
            "a.toml --matrix m.csv --sweep-load 0.05:1",
            "a.toml --dut mesh",
            "a.toml --wave a.fst",
            "a.toml --lockstep",
            "a.toml --lockstep --upset 1,2@300 --wave a.fst",
            "a.toml --engine model",
            "a.toml --engine model --trace t.csv",
        ] {
            let args = parse(line).expect("a legal line");
            let command = args.command();
            let (default, again) = match command.strip_prefix("meshkv cosim ") {
                Some(rest) => (Engine::Rtl, rest),
                None => (Engine::Model, command.strip_prefix("meshkv sim ").expect("a known command")),
            };
            let again = parse_for(default, again);
            let again = again.expect("the printed command is legal");
            assert_eq!(again.command(), args.command());
            assert_eq!(again.traffic(), args.traffic());
            assert_eq!(again.phases(), args.phases());
            assert_eq!(again.form(), args.form());
            assert_eq!((again.sweep_load, &again.trace), (args.sweep_load, &args.trace));
            assert_eq!((again.trace_rate, &again.matrix), (args.trace_rate, &args.matrix));
        }
    }

    #[test]
    fn a_hotspot_and_a_range_that_say_nothing_are_refused_with_an_example() {
        for line in ["--hotspot 3", "--hotspot 3,x", "--hotspot 3,3:y", "--hotspot -1,0"] {
            let error = parse(&format!("a.toml {line}")).expect_err("refused");
            assert!(error.contains("3,3:0.1") || error.contains("unexpected argument"), "{line}: {error}");
        }
        for line in ["0.5", "0:1", "0.5:0.5", "0.9:0.1", "0.1:1.5", "a:b"] {
            let error = parse(&format!("a.toml --sweep-load {line}")).expect_err("refused");
            assert!(error.contains("0.05:1.0"), "{line}: {error}");
        }
    }

    #[test]
    fn waves_are_of_the_whole_mesh() {
        for (line, form, overruled) in [
            ("--lockstep --wave a.fst", BuildForm::OneRouter, false),
            ("", BuildForm::OneRouter, false),
            ("--dut tile", BuildForm::OneRouter, false),
            ("--dut mesh", BuildForm::WholeMesh, false),
            ("--wave a.fst", BuildForm::WholeMesh, false),
            ("--dut tile --wave a.fst", BuildForm::WholeMesh, true),
        ] {
            let args = parse(&format!("a.toml {line}")).expect("a legal line");
            assert_eq!((args.form(), args.tile_is_overruled()), (Some(form), overruled), "{line}");
        }
    }

    #[test]
    fn a_trace_excludes_what_it_says_itself() {
        for line in ["--load 0.2", "--sweep-load 0.1:1", "--seed 2", "--traffic uniform", "--cycles 9"] {
            let error = parse(&format!("a.toml --trace t.csv {line}")).expect_err("refused");
            assert!(error.contains("cannot be used with"), "{line}: {error}");
        }
    }
}
