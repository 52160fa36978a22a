//! Keys that an unknown word may mean: the word in another table, a slip of the pen, another program's name for it, or
//! a part of a key's name.

use crate::config::keys::{Key, Table};
use crate::config::reading::spelling;

/// Names of other programs and papers, and the keys that they mean: the table in which the word stands (none: any),
/// the words, and the keys.
const OTHER_NAMES: &[(&str, &[&str], &[&str])] = &[
    ("", &["network", "router", "routers", "link", "links"], &["noc"]),
    ("", &["cache", "kv_cache", "kvcache", "staging"], &["kv"]),
    ("", &["hbm", "dram", "ddr"], &["memory"]),
    ("", &["array", "tile", "tiles", "core", "cores"], &["pe"]),
    ("", &["transformer", "llm", "attention"], &["model"]),
    ("", &["clocks", "frequency"], &["clock"]),
    ("", &["device", "fpga", "card", "part"], &["board"]),
    ("mesh", &["width", "w", "x", "nx", "size_x", "columns"], &["mesh.cols"]),
    ("mesh", &["height", "h", "y", "ny", "size_y"], &["mesh.rows"]),
    ("mesh", &["size", "dim", "dims", "dimension", "dimensions", "shape"], &["mesh.cols", "mesh.rows"]),
    ("noc", &["buffer_size", "buffer_depth", "buffers", "depth", "input_buffer"], &["noc.vc_depth"]),
    ("noc", &["link_width", "data_width", "channel_width", "phit", "bits"], &["noc.flit_width"]),
    ("noc", &["pipeline", "latency", "hop_cycles"], &["noc.router_stages"]),
    ("noc", &["ecc", "crc", "edc", "protection"], &["noc.parity"]),
    ("noc", &["virtual_channels", "num_vcs", "vcs", "vc", "vc_count"], &["noc.vn0_vcs", "noc.vn1_vcs"]),
    ("takv", &["policy", "scheme"], &["takv.placement"]),
    ("takv", &["stride"], &["takv.a", "takv.column_stride"]),
    ("kv", &["block_size", "page_size", "block_tokens"], &["kv.segment_tokens"]),
    ("kv", &["dtype", "precision", "quantization", "kv_cache_dtype", "data_type"], &["kv.format"]),
    ("kv", &["element_bytes"], &["kv.bytes_per_element"]),
    ("kv", &["windows"], &["kv.banks"]),
    ("pe", &["rows", "lanes", "width"], &["pe.array_rows"]),
    ("", &["num_hidden_layers", "num_layers", "n_layers", "n_layer", "depth"], &["model.layers"]),
    ("", &["num_attention_heads", "num_heads", "n_heads", "n_head", "q_heads"], &["model.heads"]),
    ("", &["num_key_value_heads", "num_kv_heads", "n_kv_heads", "kv_groups"], &["model.kv_heads"]),
    (
        "",
        &["max_position_embeddings", "context", "context_length", "seq_len", "max_seq_len", "tokens"],
        &["model.max_tokens"],
    ),
    ("", &["batch", "batch_size", "max_batch", "streams"], &["model.max_streams"]),
    ("", &["d_head", "head_size"], &["model.head_dim", "pe.head_dim"]),
    ("clock", &["mhz", "freq", "frequency", "fmax"], &["clock.noc_mhz", "clock.pe_mhz"]),
];

/// Words of `[model]` that a fabric does not depend on, and the reason.
const NO_KEYS: &[(&str, &str, &str)] = &[
    (
        "model",
        "name",
        "leave it out: a design has the name of its file, and depends on the numbers of a model alone",
    ),
    ("", "name", "leave it out: a design has the name of its file"),
    ("noc", "routing", "leave it out: routes go along the column, then along the row"),
    ("noc", "topology", "leave it out: the network is a mesh"),
    ("mesh", "topology", "leave it out: the network is a mesh"),
];

/// Parts of names that say nothing.
const FILLERS: &[&str] = &["num", "n", "max", "min", "per", "size", "enable", "is", "of", "the"];

/// Meaning of an unknown word.
pub(in crate::config) struct Meant {
    /// Paths of keys, or names of tables, the likeliest first.
    pub keys: Vec<String>,
    /// Sentence without a full stop.
    pub hint: String,
}

impl Meant {
    fn nothing() -> Meant {
        Meant { keys: Vec::new(), hint: String::new() }
    }
}

/// The meaning of `word` in `table`, one of `tables`, of which the first is the top level.
pub(in crate::config) fn meant(tables: &[Table], table: &Table, word: &str) -> Meant {
    let word = word.to_lowercase().replace('-', "_");
    let all = || tables.iter().flat_map(|t| t.keys.iter());
    let inner = || tables.iter().skip(1).filter(|_| table.name.is_empty());
    if let Some((.., reason)) = NO_KEYS.iter().find(|(of, name, _)| *of == table.name && *name == word) {
        return Meant { keys: Vec::new(), hint: (*reason).to_owned() };
    }
    // A key of another table was put under the wrong heading, or under none.
    if let Some(key) = all().find(|key| key.name == word) {
        let hint = match key.path.split_once('.') {
            Some((home, _)) => format!("{word} belongs to [{home}]"),
            None => format!("{word} belongs above the first table"),
        };
        return Meant { keys: vec![key.path.clone()], hint };
    }
    let known = table.keys.iter().map(|k| k.name.as_str()).chain(inner().map(|t| t.name.as_str()));
    if let Some(near) = spelling::nearest(&word, known) {
        let key = table.keys.iter().find(|key| key.name == near);
        let path = key.map_or_else(|| near.to_owned(), |key| key.path.clone());
        return Meant { keys: vec![path], hint: format!("did you mean {near}?") };
    }
    let of_table = |of: &str| of == table.name || of.is_empty();
    let named = |of: &&(&str, &[&str], &[&str])| of_table(of.0) && of.1.contains(&word.as_str());
    let there = |path: &&str| all().any(|key| key.path == **path) || inner().any(|t| t.name == **path);
    let other = OTHER_NAMES.iter().filter(named).map(|of| of.2.iter().copied().filter(there));
    let other = other.map(Iterator::collect::<Vec<&str>>).find(|keys| !keys.is_empty());
    let parts = || [&table.keys, &all().cloned().collect()].into_iter().find_map(|keys| sharing(keys, &word));
    let keys = other.map(|keys| keys.into_iter().map(str::to_owned).collect()).or_else(parts);
    keys.map_or_else(Meant::nothing, |keys: Vec<String>| {
        let shown: Vec<_> = keys.iter().map(|path| shown(path, table)).collect();
        Meant { keys, hint: format!("did you mean {}?", shown.join(" or ")) }
    })
}

/// A key as it is written in `table`.
fn shown(path: &str, table: &Table) -> String {
    match path.split_once('.') {
        Some((home, name)) if home == table.name => name.to_owned(),
        Some((home, name)) => format!("{name} of [{home}]"),
        None if table.keys.iter().any(|key| key.path == path) => path.to_owned(),
        None => format!("[{path}]"),
    }
}

/// Keys that share a part of their name with the word; none if they are many.
fn sharing(keys: &[Key], word: &str) -> Option<Vec<String>> {
    const MOST: usize = 3;
    let parts = |name: &str| -> Vec<String> {
        let parts = name.split('_').filter(|part| part.len() > 1 && !FILLERS.contains(part));
        parts.map(|part| part.trim_end_matches('s').to_owned()).collect()
    };
    let wanted = parts(word);
    let found: Vec<_> = keys
        .iter()
        .filter(|key| parts(&key.name).iter().any(|part| wanted.contains(part)))
        .map(|key| key.path.clone())
        .collect();
    (!found.is_empty() && found.len() <= MOST).then_some(found)
}

#[cfg(test)]
mod tests {
    use crate::config::reading::file_keys::file_tables;
    use crate::config::reading::meant::*;

    fn hint(table: &str, word: &str) -> String {
        let tables = file_tables();
        let table = tables.iter().find(|t| t.name == table).unwrap();
        meant(tables, table, word).hint
    }

    #[test]
    fn words_of_other_programs_lead_to_the_key() {
        for (table, word, expected) in [
            ("mesh", "width", "did you mean cols?"),
            ("mesh", "Height", "did you mean rows?"),
            ("noc", "vcs", "did you mean vn0_vcs or vn1_vcs?"),
            ("noc", "num-vcs", "did you mean vn0_vcs or vn1_vcs?"),
            ("noc", "width", "did you mean flit_width?"),
            ("kv", "uram", "did you mean uram_per_tile?"),
            ("pad", "enabled", "did you mean enable?"),
            ("memory", "bandwidth", "did you mean bandwidth_gbs?"),
            ("model", "num_hidden_layers", "did you mean layers?"),
            ("mesh", "batch_size", "did you mean max_streams of [model]?"),
            ("clock", "mhz", "did you mean noc_mhz or pe_mhz?"),
            ("", "network", "did you mean [noc]?"),
            ("", "vc_depth", "vc_depth belongs to [noc]"),
            ("mesh", "version", "version belongs above the first table"),
            ("", "fpga", "did you mean board?"),
            ("mesh", "colour", ""),
        ] {
            assert_eq!(hint(table, word), expected, "{table} {word}");
        }
        assert!(hint("model", "name").starts_with("leave it out"));
    }

    #[test]
    fn every_other_name_leads_to_a_key_and_is_none() {
        let tables = file_tables();
        let keys: Vec<_> = tables.iter().flat_map(|t| t.keys.iter().map(|k| k.path.as_str())).collect();
        let names: Vec<_> = tables.iter().map(|t| t.name.as_str()).collect();
        for (table, words, meant) in OTHER_NAMES {
            assert!(names.contains(table), "{table}");
            for to in *meant {
                assert!(keys.contains(to) || names.contains(to), "{to}");
            }
            for word in *words {
                assert!(!keys.contains(&format!("{table}.{word}").as_str()), "{table}.{word} is a key");
            }
        }
    }
}
