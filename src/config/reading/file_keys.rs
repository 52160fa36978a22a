//! Keys of the file that are no part of the design: its version, and the warnings that its author accepts.

use crate::config::keys::{tables, tables_of, Key, Table};
use crate::config::schema::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{json, Map, Value};
use std::ops::Range;
use std::sync::OnceLock;

/// Version of the format of configurations. It grows when a file means something else than before.
pub const VERSION: u32 = 2;

/// Name of the key of the version, and of the tables of accepted warnings.
pub(in crate::config) const VERSION_KEY: &str = "version";
pub(in crate::config) const ACCEPT: &str = "accept";

/// The keys above the first table.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
struct Head {
    /// Version of the format that the file was written for. An older one gives a warning where a default has changed
    /// since. Left out: the present one.
    #[schemars(range(min = 1, max = 2), example = 2, extend("x-why" = "this meshkv reads versions 1 and 2, and a later file needs a later meshkv"))]
    version: Option<u32>,
}

/// `[[accept]]`: a warning that is accepted, with the reason. It is counted and not printed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Accept {
    /// Name of the warning, as the message has it in brackets.
    #[schemars(example = "uram-fits-device")]
    warning: String,
    /// Reason why it is accepted.
    #[schemars(example = "for simulation only")]
    reason: String,
    /// Key that the warning is about. Left out: any.
    #[schemars(example = "kv.uram_per_tile")]
    key: Option<String>,
}

/// A warning that the file accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::config) struct Accepted {
    /// Name of the warning.
    pub warning: String,
    /// Place of that name.
    pub span: Range<usize>,
    /// The only key that it is accepted for.
    pub key: Option<String>,
    /// Reason.
    pub reason: String,
}

/// The key of the version.
pub(in crate::config) fn version() -> &'static Key {
    &file_tables()[0].keys[0]
}

/// The table of an accepted warning.
pub(in crate::config) fn accept() -> &'static Table {
    file_tables().last().expect("the list ends with it")
}

/// All tables of a configuration file, the top level first.
pub(in crate::config) fn file_tables() -> &'static [Table] {
    static TABLES: OnceLock<Vec<Table>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut all = tables().to_vec();
        let head = tables_of::<Head>().swap_remove(0);
        all[0].keys.splice(0..0, head.keys);
        let mut accept = tables_of::<Accept>().swap_remove(0);
        ACCEPT.clone_into(&mut accept.name);
        for key in &mut accept.keys {
            key.path = format!("{ACCEPT}.{}", key.name);
        }
        all.push(accept);
        all
    })
}

/// The JSON Schema of the configuration file, for editors.
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(Config);
    schema.insert("title".to_owned(), "meshkv configuration".into());
    let mut schema = schema.to_value();
    add_own_keys(&mut schema);
    schema
}

/// Adds the keys that are no part of the design to the schema of the design's keys.
fn add_own_keys(schema: &mut Value) {
    let of = |schema: schemars::Schema| schema.to_value();
    let (head, mut accept) = (of(schemars::schema_for!(Head)), of(schemars::schema_for!(Accept)));
    if let Some(object) = accept.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
    }
    let list = json!({ "type": "array", "description": accept["description"], "items": accept });
    let mut properties = Map::new();
    properties.insert(VERSION_KEY.to_owned(), head["properties"][VERSION_KEY].clone());
    properties.extend(schema["properties"].as_object().cloned().unwrap_or_default());
    properties.insert(ACCEPT.to_owned(), list);
    schema["properties"] = properties.into();
}
