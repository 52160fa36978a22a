//! Alternatives that may fit: other meshes of the same tiles, by scaling, and other values of keys, which
//! change the tile.

use super::estimate::{Demand, Estimate, Limits, Over};
use crate::config::Config;
use crate::design::{Design, Fpga, Mesh, Resources, Staging};

/// Sides of a mesh, as the configuration allows them.
const SIDES: std::ops::RangeInclusive<u32> = 2..=16;
/// Narrowest flit.
const NARROWEST: u32 = 64;

/// Other values of some keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Keys with their values, as written in a configuration.
    pub keys: Vec<(&'static str, u32)>,
    /// The changed configuration.
    pub config: Config,
}

impl Change {
    /// The change as a user would write it.
    pub fn text(&self) -> String {
        self.keys.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
    }
}

/// A configuration on another mesh, with a stride and memory ports that are legal there.
pub fn on_mesh(config: &Config, cols: u32, rows: u32) -> Config {
    let mut config = config.clone();
    (config.mesh.cols, config.mesh.rows) = (cols, rows);
    let illegal = Design::from_config("shape", &config).err().map(|illegal| illegal.0).unwrap_or_default();
    for finding in illegal {
        match finding.key.as_str() {
            "takv.a" => config.takv.a = None,
            "memory.tiles_per_port" => config.memory.tiles_per_port = None,
            _ => {}
        }
    }
    config
}

/// Meshes of these tiles that fit, the largest first, of equal ones the squarest. Changes of a tile with the
/// mesh (sets of destinations, heads of a column) are ignored: the best mesh should be estimated itself.
pub fn shapes(demand: &Demand, config: &Config, limits: Limits) -> Vec<Mesh> {
    let fpga = Fpga::of(config.board);
    let all = SIDES.flat_map(|cols| SIDES.map(move |rows| Mesh::new(cols, rows)));
    let legal =
        |mesh: &Mesh| Design::from_config("shape", &on_mesh(config, mesh.cols(), mesh.rows())).is_ok();
    let fits = |mesh: &Mesh| Estimate::new(demand, *mesh, fpga, limits).fits();
    let mut found: Vec<_> = all.filter(fits).filter(legal).collect();
    found.sort_by_key(|mesh| (std::cmp::Reverse(mesh.tiles()), mesh.cols().abs_diff(mesh.rows())));
    found
}

/// Of the `shapes` of a design's tiles, the one with the most memory ports, and their number; of equal ones the squarest.
/// Ports bound the share of the memory's bandwidth.
pub fn most_ports(config: &Config, shapes: &[Mesh]) -> Option<(Mesh, u32)> {
    let ports = |mesh: &Mesh| {
        let design = Design::from_config("shape", &on_mesh(config, mesh.cols(), mesh.rows())).ok()?;
        Some((*mesh, design.memory.ports))
    };
    let squareness = |mesh: Mesh| std::cmp::Reverse(mesh.cols().abs_diff(mesh.rows()));
    shapes.iter().filter_map(ports).max_by_key(|(mesh, ports)| (*ports, squareness(*mesh)))
}

/// Legal changes that reduce the resources that are short, or wires between SLRs.
pub fn changes(config: &Config, over: &[Over], wires: bool) -> Vec<Change> {
    let short = |names: &[&str]| over.iter().any(|o| names.contains(&Resources::NAMES[o.resource]));
    let (flit, rows) = (config.noc.flit_width / 2, config.pe.array_rows / 2);
    let (streams, entries) = (config.model.max_streams / 2, config.mare.request_entries / 2);
    let staging = Staging::new(config);
    let mut wanted: Vec<Vec<(&'static str, u32)>> = Vec::new();
    let parts = short(&["lut", "lutram_lut", "ff", "dsp", "bram36"]);
    if parts || wires {
        wanted.push(vec![("noc.flit_width", flit)]);
    }
    if parts {
        wanted.push(vec![("pe.array_rows", rows)]);
        wanted.push(vec![("noc.flit_width", flit), ("pe.array_rows", rows)]);
    }
    if short(&["lut", "lutram_lut", "ff", "bram36", "uram"]) {
        wanted.push(vec![("model.max_streams", streams)]);
    }
    if short(&["lut", "lutram_lut", "ff"]) {
        wanted.push(vec![("mare.request_entries", entries)]);
        wanted.push(vec![
            ("noc.flit_width", flit),
            ("pe.array_rows", rows),
            ("mare.request_entries", entries),
        ]);
    }
    if short(&["uram"]) {
        // As wide as a flit, and no deeper than necessary.
        wanted.push(vec![("kv.uram_per_tile", staging.blocks_wide)]);
    }
    let changes = wanted.into_iter().map(|keys| Change { config: with(config, &keys), keys });
    changes.filter(|c| c.config != *config && is_legal(c)).collect()
}

fn with(config: &Config, keys: &[(&'static str, u32)]) -> Config {
    let mut config = config.clone();
    for (key, value) in keys {
        match *key {
            "noc.flit_width" => {
                config.noc.flit_width = *value;
                // The default goes with the flit.
                config.pe.root_lanes = None;
            }
            "pe.array_rows" => config.pe.array_rows = *value,
            "mare.request_entries" => config.mare.request_entries = *value,
            "model.max_streams" => config.model.max_streams = *value,
            "kv.uram_per_tile" => config.kv.uram_per_tile = *value,
            other => unreachable!("{other} is no key that is shrunk"),
        }
    }
    config
}

fn is_legal(change: &Change) -> bool {
    change.config.noc.flit_width >= NARROWEST && Design::from_config("change", &change.config).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::estimate::tests::demand;
    use super::*;

    fn over(resource: &str) -> Vec<Over> {
        let resource = Resources::NAMES.iter().position(|name| *name == resource).unwrap();
        vec![Over { slr: 1, resource, used: 2, has: 1, limit: 1 }]
    }

    #[test]
    fn the_largest_mesh_comes_first_and_all_are_legal_and_fit() {
        // 14 tiles to an SLR.
        let demand = demand(23_700);
        let config = Config::default();
        let found = shapes(&demand, &config, Limits::default());
        let best = found[0];
        assert!(found.iter().all(|m| m.tiles() <= best.tiles()));
        for mesh in &found {
            assert!(Design::from_config("t", &on_mesh(&config, mesh.cols(), mesh.rows())).is_ok());
            let estimate = Estimate::new(&demand, *mesh, Fpga::of(config.board), Limits::default());
            assert!(estimate.fits());
        }
        assert!((36..=42).contains(&best.tiles()), "{best:?}");
    }

    #[test]
    fn the_mesh_with_the_most_ports_has_one_a_tile_where_the_card_has_so_many() {
        let mut config = Config::default();
        config.memory.tiles_per_port = Some(1);
        let meshes = [(4, 4), (6, 6), (2, 15), (3, 10), (2, 2)].map(|(cols, rows)| Mesh::new(cols, rows));
        assert_eq!(most_ports(&config, &meshes), Some((meshes[3], 30)));
        assert_eq!(most_ports(&config, &[]), None);
    }

    #[test]
    fn ports_that_another_mesh_forbids_are_left_to_it() {
        let mut config = Config::default();
        config.memory.tiles_per_port = Some(2);
        assert_eq!(on_mesh(&config, 4, 4).memory.tiles_per_port, Some(2));
        assert_eq!(on_mesh(&config, 16, 8).memory.tiles_per_port, None);
    }

    #[test]
    fn a_stride_that_another_mesh_forbids_is_left_to_it() {
        let mut config = Config::default();
        config.takv.a = Some(9);
        // 9 and 6 rows have a divisor.
        assert_eq!(on_mesh(&config, 7, 6).takv.a, None);
        assert_eq!(on_mesh(&config, 8, 4).takv.a, Some(9));
    }

    #[test]
    fn what_is_proposed_takes_less_of_what_is_short() {
        let config = Config::default();
        let texts =
            |resource| changes(&config, &over(resource), false).iter().map(Change::text).collect::<Vec<_>>();
        assert_eq!(
            texts("dsp"),
            ["noc.flit_width = 256", "pe.array_rows = 1", "noc.flit_width = 256, pe.array_rows = 1"]
        );
        for wanted in ["model.max_streams = 4", "mare.request_entries = 8"] {
            assert!(texts("lut").contains(&wanted.to_owned()) && !texts("dsp").contains(&wanted.to_owned()));
        }
        let mut deep = config.clone();
        deep.kv.uram_per_tile = 16;
        let found = changes(&deep, &over("uram"), false);
        let only_wires: Vec<_> = changes(&config, &[], true).iter().map(Change::text).collect();
        assert_eq!(only_wires, ["noc.flit_width = 256"]);
        assert!(found.iter().any(|c| c.text() == "kv.uram_per_tile = 8"));
    }

    #[test]
    fn nothing_illegal_is_proposed() {
        let mut config = Config::default();
        (config.noc.flit_width, config.pe.array_rows, config.model.max_streams) = (64, 1, 1);
        config.mare.request_entries = 2;
        assert_eq!(changes(&config, &over("lut"), true), []);
    }
}
