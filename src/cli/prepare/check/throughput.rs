//! Rates of KV that each part of a fabric bounds, before anything runs: which part holds a decode step, and the key that
//! moves it.

use crate::cli::output::table;
use crate::config::{Config, PlacementKind, Spread};
use crate::cosim::workloads::decode::step;
use crate::cosim::workloads::decode::{Step, Workload};
use crate::design::{Bounds, Choice, Design, ForecastError, Mapping, Sharing, FORECAST_ERROR};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Least gain of a change that is worth a word.
const WORTH: f64 = 1.05;

/// Rates of a class of workload at the longest context.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ThroughputRow {
    /// Streams that decode at once: 1, or `model.max_streams`.
    streams: u32,
    /// Tokens in the cache of each: `model.max_tokens`.
    tokens: u32,
    /// Mapping of the least expected cycles.
    mapping: &'static str,
    /// Most GB/s of KV that each part lets through.
    most_gbs: Rates,
    /// The part that holds the step: the least of them.
    held_by: &'static str,
    /// GB/s of KV that are expected of a whole layer.
    expected_gbs: f64,
    /// How far the forecast behind it is off.
    expected_error: ForecastError,
    /// The change of one key that raises the least of them most; null if none does.
    change: Option<Change>,
}

/// GB/s by part.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
struct Rates {
    /// External memory of the card: all its channels, less their refresh.
    memory: f64,
    /// The busiest port of memory, of the ports that a layer reaches, each with its channel.
    ports: f64,
    /// The home that streams most.
    homes: f64,
    /// The busiest link.
    links: f64,
    /// The tile that receives most.
    tiles: f64,
    /// The busiest array.
    array: f64,
    /// The busiest reduce root.
    root: f64,
}

/// A change of a key.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Change {
    /// The key.
    key: &'static str,
    /// Its value; null is its default.
    value: Value,
    /// The value in words.
    #[serde(skip)]
    text: String,
    /// The least of the rates with it, in GB/s.
    gbs: f64,
    /// The part that holds the step then.
    held_by: &'static str,
}

impl Rates {
    fn all(&self) -> [(&'static str, f64); 7] {
        let Rates { memory, ports, homes, links, tiles, array, root } = *self;
        [
            ("memory", memory),
            ("ports", ports),
            ("homes", homes),
            ("links", links),
            ("tiles", tiles),
            ("array", array),
            ("root", root),
        ]
    }

    /// The part with the least rate; of equal ones the first.
    fn least(&self) -> (&'static str, f64) {
        self.all().into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are seven")
    }
}

/// The step of a layer at the longest context.
fn layer(design: &Design, streams: u32) -> Option<Step> {
    let load = Workload {
        tokens: design.model.max_tokens,
        batch: streams,
        prefix: 0,
        mapping: Mapping::RowAligned,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 1,
        stride: 1,
        append: false,
    };
    step(design, &load).ok()
}

/// The rate in GB/s at which a step that takes so many cycles reads its keys and values.
fn rate(design: &Design, step: &Step, cycles: u64) -> f64 {
    let bytes = step.rows as f64 * design.cached_token_bytes() as f64;
    bytes / cycles.max(1) as f64 * design.clock.noc_mhz / 1000.0
}

/// The rate that each part lets through.
fn rates(design: &Design, step: &Step, bounds: &Bounds) -> Rates {
    let gbs = |cycles| rate(design, step, cycles);
    Rates {
        memory: gbs(bounds.bytes),
        ports: gbs(bounds.memory),
        homes: gbs(bounds.injection),
        links: gbs(bounds.links),
        tiles: gbs(bounds.ejection),
        array: gbs(bounds.array),
        root: gbs(bounds.root),
    }
}

/// A key with its value in words, and the configuration that has it.
type Candidate = (&'static str, String, Config);

/// Changes of one key that may raise the throughput of a part.
fn candidates(config: &Config, part: &str) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    let mut add = |key: &'static str, value: String, change: &dyn Fn(&mut Config)| {
        let mut changed = config.clone();
        change(&mut changed);
        all.push((key, value, changed));
    };
    let group = config.model.heads / config.model.kv_heads.max(1);
    let by_segment = config.takv.placement == PlacementKind::Takv && config.takv.spread == Spread::Segment;
    if by_segment && matches!(part, "ports" | "homes" | "links") {
        add("takv.spread", "\"slice\"".into(), &|c| {
            (c.takv.spread, c.takv.column_stride, c.takv.swap_epoch) = (Spread::Slice, 0, None);
        });
    }
    match part {
        "ports" => {
            if by_segment && config.takv.column_stride == 0 {
                add("takv.column_stride", "1".into(), &|c| c.takv.column_stride = 1);
            }
            if config.takv.placement != PlacementKind::Takv {
                add("takv.placement", "\"takv\"".into(), &|c| c.takv.placement = PlacementKind::Takv);
            }
            if config.memory.tiles_per_port.is_some() {
                add("memory.tiles_per_port", "its default".into(), &|c| c.memory.tiles_per_port = None);
            }
            for rows in [config.mesh.rows + 1, 2 * config.mesh.rows] {
                add("mesh.rows", rows.to_string(), &|c| c.mesh.rows = rows);
            }
            widen(config, &mut add);
        }
        "homes" | "links" | "tiles" => {
            if !config.mare.multicast {
                add("mare.multicast", "true".into(), &|c| c.mare.multicast = true);
            }
            if by_segment && config.takv.column_stride == 0 {
                add("takv.column_stride", "1".into(), &|c| c.takv.column_stride = 1);
            }
            widen(config, &mut add);
        }
        "array" => {
            for rows in (1..=8).map(|times| times * config.pe.array_rows).filter(|rows| *rows <= group.max(2))
            {
                add("pe.array_rows", rows.to_string(), &|c| c.pe.array_rows = rows);
            }
            widen(config, &mut add);
        }
        "root" => {
            let lanes = config.noc.flit_width / 32;
            add("pe.root_lanes", lanes.to_string(), &|c| c.pe.root_lanes = Some(lanes));
        }
        _ => {}
    }
    all
}

/// Takes a key, its value in words, and the change.
type Add<'a> = dyn FnMut(&'static str, String, &dyn Fn(&mut Config)) + 'a;

/// The next wider flit.
fn widen(config: &Config, add: &mut Add) {
    let width = 2 * config.noc.flit_width;
    add("noc.flit_width", width.to_string(), &|c| c.noc.flit_width = width);
}

/// The legal change of one key that raises the lowest rate most.
fn best_change(design: &Design, streams: u32, now: (&'static str, f64)) -> Option<Change> {
    let tried = candidates(design.configuration(), now.0).into_iter().filter_map(|(key, text, config)| {
        let changed = Design::from_config(&design.name, &config).ok()?;
        let step = layer(&changed, streams)?;
        let (held_by, gbs) =
            rates(&changed, &step, &Choice::by_bounds(&changed, &step.descriptors).1).least();
        let value = serde_json::from_str(&text).unwrap_or(Value::Null);
        (gbs >= WORTH * now.1).then_some(Change { key, value, text, gbs, held_by })
    });
    // Of equal ones the first, which changes least.
    tried.reduce(|best, other| if other.gbs > WORTH * best.gbs { other } else { best })
}

/// The classes of a design: one stream, and a full batch.
pub(super) fn rows(design: &Design) -> Vec<ThroughputRow> {
    let model = &design.model;
    let mut classes = vec![1, model.max_streams];
    classes.dedup();
    let row = |streams: u32| {
        let step = layer(design, streams)?;
        let choice = Choice::new(design, &step.descriptors);
        let forecast = choice.of(choice.mapping)?;
        let (mapping, most_gbs) = (choice.mapping, rates(design, &step, &forecast.bounds));
        let (expected_gbs, least) = (rate(design, &step, forecast.cycles), most_gbs.least());
        Some(ThroughputRow {
            streams,
            tokens: model.max_tokens,
            mapping: mapping.name(),
            most_gbs,
            held_by: least.0,
            expected_gbs,
            expected_error: FORECAST_ERROR,
            change: best_change(design, streams, least),
        })
    };
    classes.into_iter().filter_map(row).collect()
}

/// The rates as a table, and for each class what holds it and what moves that.
pub(super) fn prose(design: &Design, rows: &[ThroughputRow]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut head = vec!["streams".to_owned(), "mapping".to_owned()];
    head.extend(first.most_gbs.all().map(|(name, _)| name.to_owned()));
    head.push("expected".to_owned());
    let mut lines = vec![head];
    for row in rows {
        let mut line = vec![row.streams.to_string(), row.mapping.to_owned()];
        line.extend(row.most_gbs.all().map(|(name, gbs)| {
            let mark = if name == row.held_by { " <" } else { "" };
            format!("{gbs:.0}{mark}")
        }));
        line.push(format!("{:.0}", row.expected_gbs));
        lines.push(line);
    }
    let mut text = format!(
        "GB/s of KV that each part lets through at most, for contexts of {} tokens; `<` marks the part that holds:\n{}  expected: {}\n",
        first.tokens,
        table::columns(&lines),
        first.expected_error.words()
    );
    for row in rows {
        text += &held(design, row);
    }
    text
}

/// The part that bounds a class of workload, and the change of a key that raises its rate.
fn held(design: &Design, row: &ThroughputRow) -> String {
    let streams = if row.streams == 1 { "one stream".to_owned() } else { format!("{} streams", row.streams) };
    let what = match row.held_by {
        "memory" => "the memory of the card, memory.bandwidth_gbs".to_owned(),
        "ports" => {
            let (of_layer, port) = (design.ports_of_layer(), design.port_gbs());
            format!(
                "memory ports: {of_layer} of {} read a layer, with {port:.1} GB/s each",
                design.memory.ports
            )
        }
        "homes" => "the home that streams most, one flit a cycle".to_owned(),
        "links" => "the busiest link, one flit a cycle".to_owned(),
        "tiles" => "the tile that receives most, one flit a cycle".to_owned(),
        "array" => {
            let model = &design.model;
            format!(
                "arrays: {} row{} for {} heads that share a KV head",
                design.pe.array_rows,
                if design.pe.array_rows == 1 { "" } else { "s" },
                model.group_heads()
            )
        }
        _ => "the reduce root of a column".to_owned(),
    };
    let way = match (&row.change, row.held_by) {
        (Some(change), _) => format!(
            "{} = {} raises it to {:.0} GB/s, held by {}",
            change.key, change.text, change.gbs, change.held_by
        ),
        (None, "memory") => "no key of the fabric moves it".to_owned(),
        (None, _) => "no single key that was tried moves it".to_owned(),
    };
    format!("  {streams}: held by {what}; {way}\n")
}
