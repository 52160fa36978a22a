//! Columns of the rows of a sweep, with their meaning and unit.

use crate::config::{tables, workload_keys, Grid, Kind, WorkKind};
use serde::{Deserialize, Serialize};

/// Role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Names the row or its configuration.
    Id,
    /// Distinguishes its point from others.
    Label,
    /// A measured value.
    Metric,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name; keys of the configuration have their dotted names.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Type of its values.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Unit of its values, in words; empty without a unit.
    pub unit: String,
    /// Its meaning.
    pub doc: String,
    /// Name of the column with its error, as a share of it; empty for what is counted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// Place of a metric in the row of its run; empty for others.
    #[serde(skip)]
    pub pointer: &'static str,
}

/// Name, place in the row of a run, type, unit, meaning.
pub(super) type Metric = (&'static str, &'static str, Kind, &'static str, &'static str);

use Kind::{Bool, Integer, Number, Text};

const RATE: &str = "flits/node/cycle";

const TRAFFIC: &[Metric] = &[
    (
        "latency_mean",
        "/latency_mean",
        Number,
        "cycles",
        "mean latency from source queue to ejection; a lower bound if not finished",
    ),
    ("accepted", "/accepted", Number, RATE, "flits delivered in the window"),
    ("offered", "/offered", Number, RATE, "flits that the sample's packets inject, over all nodes"),
    ("offered_deliveries", "/offered_deliveries", Number, RATE, "deliveries they ask for: times the fan-out"),
    ("latency_p50", "/latency_p50", Integer, "cycles", "median latency"),
    ("latency_p95", "/latency_p95", Integer, "cycles", "95th percentile of the latency"),
    ("latency_p99", "/latency_p99", Integer, "cycles", "99th percentile of the latency"),
    ("latency_p999", "/latency_p999", Integer, "cycles", "99.9th percentile of the latency"),
    ("latency_max", "/latency_max", Integer, "cycles", "longest latency"),
    (
        "source_latency_mean",
        "/source_latency_mean",
        Number,
        "cycles",
        "part of the mean latency in the source queue",
    ),
    (
        "network_latency_mean",
        "/network_latency_mean",
        Number,
        "cycles",
        "part of the mean latency in the network",
    ),
    (
        "zero_load_latency",
        "/zero_load_latency",
        Number,
        "cycles",
        "mean latency of the same traffic at 0.01 deliveries a node and cycle",
    ),
    (
        "last_delivery_mean",
        "/last_delivery_mean",
        Number,
        "cycles",
        "mean latency to the last destination of a packet",
    ),
    ("hops_mean", "/hops_mean", Number, "links", "mean links between source and destination"),
    (
        "max_wait",
        "/max_wait",
        Integer,
        "cycles",
        "longest time of any flit from the head of its source queue to a destination",
    ),
    ("wait_bound", "/wait_bound", Integer, "cycles", "most that this time may be for this traffic"),
    (
        "slowest_source",
        "/slowest_source",
        Number,
        "",
        "flits of the slowest source that came, over the mean of all tiles that send",
    ),
    (
        "saturated",
        "/saturated",
        Bool,
        "",
        "mean latency is three times that without load or more, or the run did not finish",
    ),
    ("finished", "/finished", Bool, "", "all of the sample arrived within the limits"),
    ("link_flits", "/link_flits", Integer, "flits", "router-to-router traversals in the window"),
    ("run_cycles", "/cycles", Integer, "cycles", "cycles simulated"),
    ("violations", "/violations", Integer, "", "what the scoreboard found wrong"),
];

const DECODE: &[Metric] = &[
    ("step_cycles", "/whole/cycles", Number, "cycles", "cycles of a whole step; `error` is their error"),
    ("latency_us", "/whole/latency_us", Number, "us", "time of a whole step at the configured clock"),
    (
        "tokens_per_second",
        "/whole/tokens_per_second",
        Number,
        "tokens/s",
        "tokens of all streams in a second of whole steps",
    ),
    (
        "error",
        "/whole/error",
        Number,
        "",
        "error to expect of these three, as a share; 0 if the whole step was run",
    ),
    ("traffic", "/whole/traffic", Number, "flits", "router-to-router traversals of a whole step"),
    (
        "energy_nj",
        "/whole/energy_nj/total",
        Number,
        "nJ",
        "energy of a whole step by published figures of single activities",
    ),
    ("run_mapping", "/mapping", Text, "", "mapping of the run, which `auto` has chosen"),
    (
        "bound_by",
        "/bound_by",
        Text,
        "",
        "the part with the tightest bound and those of at least nine tenths of it",
    ),
    ("over_bound", "/over_bound", Number, "", "cycles over the larger of the bounds of bytes and arrays"),
    (
        "imbalance",
        "/imbalance",
        Number,
        "",
        "beats of the fullest memory port over the mean of all with a home",
    ),
    ("kv_gbs", "/kv_gbs", Number, "GB/s", "KV read from external memory, from start to done"),
    ("share", "/share", Number, "of bandwidth_gbs", "the same as a share of the memory's bandwidth"),
    (
        "share_left",
        "/share_left",
        Number,
        "of bandwidth_gbs",
        "the same as a share of what refresh leaves of it",
    ),
    (
        "bisection_useful",
        "/useful",
        Number,
        "of link cycles",
        "share of KV_DATA on the links across the middle while KV traffic flows",
    ),
    (
        "bisection_stall",
        "/stall",
        Number,
        "of link cycles",
        "share of cycles in which a flit was ready and had no credit",
    ),
    ("bisection_other", "/other", Number, "of link cycles", "share of cycles that are neither"),
    (
        "accepted_a_cycle",
        "/accepted_a_cycle",
        Number,
        "flits/cycle",
        "KV flits that an array accepts per cycle in which its FIFO holds one",
    ),
    ("swaps", "/swaps", Integer, "", "homes that were exchanged"),
    ("sample_layers", "/sample/layers", Integer, "layers", "layers that were run"),
    ("of_layers", "/sample/of_layers", Integer, "layers", "layers of the model"),
    ("sample_segments", "/sample/segments", Integer, "segments", "segments of a layer that were run"),
    ("of_segments", "/sample/of_segments", Integer, "segments", "segments of a layer that are attended to"),
    (
        "sample_cycles",
        "/cycles",
        Integer,
        "cycles",
        "cycles of what was run, from the first word of queries to the last flit of outputs",
    ),
    ("sample_kv_cycles", "/kv_cycles", Integer, "cycles", "cycles of it in which tiles take KV"),
    ("sample_us", "/run_us", Number, "us", "time of the part of a step that was run"),
    ("sample_traffic", "/traffic", Integer, "flits", "router-to-router traversals of what was run"),
    ("sample_part_flits", "/flits_by_class/PART", Integer, "flits", "traversals of PART in it"),
    ("sample_kv_fetch_flits", "/flits_by_class/KV_FETCH", Integer, "flits", "traversals of KV_FETCH in it"),
    ("sample_kv_data_flits", "/flits_by_class/KV_DATA", Integer, "flits", "traversals of KV_DATA in it"),
    ("sample_energy_nj", "/energy_nj/total", Number, "nJ", "energy of what was run"),
    ("sample_energy_link_nj", "/energy_nj/link", Number, "nJ", "energy of its routers and links"),
    ("sample_energy_sram_nj", "/energy_nj/sram", Number, "nJ", "energy of its staging memories and FIFOs"),
    ("sample_energy_mac_nj", "/energy_nj/mac", Number, "nJ", "energy of its arithmetic"),
    ("sample_energy_memory_nj", "/energy_nj/external_memory", Number, "nJ", "energy of its external memory"),
    ("sample_bound_bytes", "/bounds/bytes", Integer, "cycles", "bound of the bytes of what was run"),
    ("sample_bound_memory", "/bounds/memory", Integer, "cycles", "bound of the busiest memory port for it"),
    ("sample_bound_injection", "/bounds/injection", Integer, "cycles", "bound of the homes for it"),
    ("sample_bound_links", "/bounds/links", Integer, "cycles", "bound of the links for it"),
    ("sample_bound_ejection", "/bounds/ejection", Integer, "cycles", "bound of the tiles' ports for it"),
    ("sample_bound_array", "/bounds/array", Integer, "cycles", "bound of the arrays for it"),
    ("sample_bound_root", "/bounds/root", Integer, "cycles", "bound of the reduce roots for it"),
    ("sample_memory_bytes", "/memory_bytes", Integer, "bytes", "bytes read from external memory for it"),
    ("sample_delivered", "/delivered", Integer, "flits", "flits of it that tiles took"),
    ("sample_delivered_heads", "/head_flits", Integer, "flits", "the same, counted for each head"),
    ("sample_packets", "/packets", Integer, "packets", "PART packets of it that reached their roots"),
    (
        "sample_fetches_opened",
        "/counters/requests_opened",
        Integer,
        "fetches",
        "fetches of it that opened a request at their home",
    ),
    (
        "sample_fetches_merged",
        "/counters/requests_merged",
        Integer,
        "fetches",
        "fetches of it that joined one within its window",
    ),
    ("violations", "/violations", Integer, "", "what the ledger found wrong"),
];

/// Metrics of a whole step whose error a column has.
const WITH_ERROR: [&str; 3] = ["step_cycles", "latency_us", "tokens_per_second"];

fn label(name: &str, kind: Kind, doc: &str) -> Column {
    Column {
        name: name.to_owned(),
        role: Role::Label,
        kind,
        unit: String::new(),
        doc: doc.to_owned(),
        error: String::new(),
        pointer: "",
    }
}

/// Name of the column with the hash of the configuration.
pub(super) const CONFIG_SHA256: &str = "config_sha256";

/// Metrics of a kind of run.
pub fn metric_columns(kind_of_run: WorkKind) -> Vec<Column> {
    let metrics = match kind_of_run {
        WorkKind::Traffic => TRAFFIC,
        WorkKind::Decode => DECODE,
    };
    let error = |name: &str| match kind_of_run == WorkKind::Decode && WITH_ERROR.contains(&name) {
        true => "error",
        false => "",
    };
    metrics.iter().map(|metric| column(metric, error(metric.0))).collect()
}

/// The column of a metric, whose error another has.
pub(super) fn column(&(name, pointer, kind, unit, doc): &Metric, error: &str) -> Column {
    Column {
        role: Role::Metric,
        unit: unit.to_owned(),
        error: error.to_owned(),
        pointer,
        ..label(name, kind, doc)
    }
}

/// A label with text.
pub fn text_label(name: &str, doc: &str) -> Column {
    label(name, Text, doc)
}

/// The columns of rows of a kind of run that have these labels: an id, the labels, the workload, the metrics, the hash of
/// the configuration.
pub fn columns_of(kind: WorkKind, labels: Vec<Column>) -> Vec<Column> {
    let id = label("id", Text, "follows from configuration, workload and row format");
    let mut columns = vec![Column { role: Role::Id, ..id }];
    columns.extend(labels);
    for key in workload_keys(kind) {
        let unit = if key.name == "load" { "flits/sending node/cycle" } else { "" };
        columns.push(Column { unit: unit.to_owned(), ..label(&key.name, key.kind, &key.doc) });
    }
    columns.extend(metric_columns(kind));
    let hash = label(CONFIG_SHA256, Text, "SHA-256 of the configuration, as `--json` has it");
    columns.push(Column { role: Role::Id, ..hash });
    columns
}

/// All columns of a sweep: its id, the mesh, the varied keys, the workload, the metrics.
pub fn columns(grid: &Grid) -> Vec<Column> {
    let mut columns = Vec::new();
    let choices = || grid.axes.iter().flat_map(|axis| &axis.choices);
    if choices().any(|choice| choice.name.is_some()) {
        columns.push(label("point", Text, "name of the point"));
    }
    let sets = choices().flat_map(|choice| &choice.sets).map(|set| set.path.as_str());
    let varied: Vec<&str> = ["mesh.cols", "mesh.rows"].into_iter().chain(sets).collect();
    for key in tables().iter().flat_map(|table| &table.keys).filter(|key| varied.contains(&key.path.as_str()))
    {
        columns.push(label(&key.path, key.kind, &key.doc));
    }
    columns_of(grid.kind, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_metric_has_the_name_of_a_key() {
        for kind in [WorkKind::Traffic, WorkKind::Decode] {
            let keys = workload_keys(kind);
            for metric in metric_columns(kind) {
                assert!(keys.iter().all(|key| key.name != metric.name), "{}", metric.name);
            }
        }
    }

    #[test]
    fn what_counts_a_sample_is_named_so() {
        // Rates and shares say the same of a sample and of the whole.
        let counts = ["cycles", "us", "flits", "nJ", "bytes", "packets", "fetches", "tokens/s"];
        for metric in metric_columns(WorkKind::Decode) {
            let of_whole = metric.pointer.starts_with("/whole/");
            if counts.contains(&metric.unit.as_str()) {
                assert_ne!(of_whole, metric.name.starts_with("sample_"), "{}", metric.name);
            }
            assert!(metric.error.is_empty() || of_whole, "{}", metric.name);
        }
    }

    #[test]
    fn no_two_metrics_have_one_name() {
        for kind in [WorkKind::Traffic, WorkKind::Decode] {
            let mut names: Vec<_> = metric_columns(kind).into_iter().map(|metric| metric.name).collect();
            names.sort();
            assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
        }
    }
}
