//! The modules a design is made of, how often each stands, where, and on which clock.

use crate::design::{Design, Mesh};
use crate::emit::{self, ModuleSpec};

/// How often a part stands in a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// At every place of the mesh, in the SLR of its row.
    Tile,
    /// Once a column, in SLR0.
    Column,
    /// Once a pair of tiles, in SLR0 beside the memory.
    Port,
    /// Once, in SLR0.
    Once,
}

impl Scale {
    /// How often in all of a mesh.
    pub fn count(self, mesh: Mesh) -> u64 {
        let (cols, rows) = (u64::from(mesh.cols()), u64::from(mesh.rows()));
        match self {
            Scale::Tile => cols * rows,
            Scale::Column => cols,
            Scale::Port => cols.div_ceil(2) * rows,
            Scale::Once => 1,
        }
    }
}

/// The clock that bounds a part. The few registers of a part on the other clock are held to this one, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// The network's.
    Noc,
    /// That of what computes.
    Pe,
}

/// A module that is synthesised by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Name in reports.
    pub name: &'static str,
    /// Its module.
    pub module: &'static str,
    /// How often it stands.
    pub scale: Scale,
    /// What its period is held against.
    pub clock: Clock,
}

const fn part(name: &'static str, module: &'static str, scale: Scale, clock: Clock) -> Part {
    Part { name, module, scale, clock }
}

/// What a tile is made of.
const OF_TILE: [Part; 3] = [
    part("router", emit::ROUTER, Scale::Tile, Clock::Noc),
    part("transport", emit::TILE, Scale::Tile, Clock::Noc),
    part("pad", emit::PAD, Scale::Tile, Clock::Pe),
];

/// What stands around the tiles. Not every design has all of it.
const AROUND: [Part; 5] = [
    part("column_root", emit::ROOT, Scale::Column, Clock::Noc),
    part("column_controller", "meshkv_column_controller", Scale::Column, Clock::Noc),
    part("memory_port", "meshkv_memory_port", Scale::Port, Clock::Noc),
    part("swap_unit", "meshkv_swap_unit", Scale::Once, Clock::Noc),
    part("front", emit::FRONT, Scale::Once, Clock::Noc),
];

/// The parts of a design, those of the tile first.
pub fn parts(design: &Design) -> Vec<Part> {
    let modules = emit::modules(design);
    let has = |part: &Part| modules.iter().any(|m| m.name == part.module);
    OF_TILE.into_iter().chain(AROUND).filter(has).collect()
}

/// Yosys' command that gives a part's module the parameters with which it is instantiated, where they are not its
/// defaults.
pub(super) fn parameters(design: &Design, part: &Part) -> String {
    let modules = emit::modules(design);
    let periphery: Option<&ModuleSpec> = modules.iter().find(|m| m.name == emit::PERIPHERY);
    let value = |name: &str| {
        let params = periphery.iter().flat_map(|m| &m.params);
        params.into_iter().find(|p| p.name == name).map(|p| p.literal.clone())
    };
    let (own, outer) = match part.module {
        "meshkv_column_controller" => ("QUEUE", "DESC_DEPTH"),
        "meshkv_memory_port" => ("CREDITS", "REQ_DEPTH"),
        _ => return String::new(),
    };
    value(outer).map(|value| format!("chparam -set {own} {value} {}", part.module)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn counts_follow_the_mesh() {
        let mesh = Mesh::new(3, 4);
        let counts = [Scale::Tile, Scale::Column, Scale::Port, Scale::Once].map(|s| s.count(mesh));
        // In a row of three the last tile has a port to itself.
        assert_eq!(counts, [12, 3, 8, 1]);
    }

    #[test]
    fn a_design_without_swaps_has_no_swap_unit() {
        let mut config = Config::default();
        let names = |config: &Config| {
            let design = Design::from_config("t", config).unwrap();
            parts(&design).into_iter().map(|p| p.name).collect::<Vec<_>>()
        };
        assert!(names(&config).contains(&"swap_unit"));
        config.takv.swap_epoch = 0;
        assert!(!names(&config).contains(&"swap_unit"));
        assert_eq!(names(&config)[..3], ["router", "transport", "pad"]);
    }

    #[test]
    fn parts_around_the_tiles_have_the_parameters_of_their_instances() {
        let design = Design::from_config("t", &Config::default()).unwrap();
        let given: Vec<_> = parts(&design).iter().map(|p| parameters(&design, p)).collect();
        assert_eq!(given.iter().filter(|g| g.starts_with("chparam -set ")).count(), 2);
    }
}
