//! Keys of a sweep file that are not keys of the configuration.

use crate::config::keys::{tables_of, Key, Kind, Table};
use crate::config::work::{DecodeWork, SlurmTable, TrafficWork, WorkKind};
use serde_json::Value;

/// A key with no rule of its own.
pub(super) fn free_key(name: &str, doc: &str) -> Key {
    Key {
        path: name.to_owned(),
        name: name.to_owned(),
        doc: doc.to_owned(),
        kind: Kind::Text,
        default: Value::Null,
        example: "configs/meshkv.toml".into(),
        choices: Vec::new(),
        range: None,
        why: None,
    }
}

pub(super) fn words() -> Vec<Table> {
    let table = |name: &str, keys: Vec<Key>| Table { name: name.to_owned(), doc: String::new(), keys };
    let top = table("", vec![free_key("base", "Path of the base configuration, from the sweep file")]);
    std::iter::once(top)
        .chain(["grid", "zip", "points", "workload", "slurm"].map(|t| table(t, Vec::new())))
        .collect()
}

/// The keys of a workload.
pub(super) fn workload(kind: WorkKind) -> Table {
    let tables = match kind {
        WorkKind::Traffic => tables_of::<TrafficWork>(),
        WorkKind::Decode => tables_of::<DecodeWork>(),
    };
    let mut keys = tables.into_iter().next().map_or(Vec::new(), |top| top.keys);
    for key in &mut keys {
        key.path = format!("workload.{}", key.name);
    }
    Table { name: "workload".to_owned(), doc: String::new(), keys }
}

/// The keys of a run on a cluster.
pub(super) fn slurm() -> Table {
    let mut keys = tables_of::<SlurmTable>().into_iter().next().map_or(Vec::new(), |top| top.keys);
    for key in &mut keys {
        key.path = format!("slurm.{}", key.name);
    }
    Table { name: "slurm".to_owned(), doc: String::new(), keys }
}

/// The keys of a workload, to list them.
pub fn workload_keys(kind: WorkKind) -> Vec<Key> {
    workload(kind).keys
}
