//! Destinations of unicast packets: the synthetic patterns of Dally and Towles, as in BookSim.
//!
//! A pattern maps a source to a destination. Sources that a pattern maps to themselves send
//! nothing: a router does not turn a flit back to its own tile. This module knows the mesh only.

use super::draw::{below, unit};
use super::matrix::Matrix;
pub use crate::config::PatternKind;
use crate::cosim::tile_set::TileSet;
use crate::design::{Mesh, NodeId};
use rand_pcg::rand_core::Rng;
use serde::Serialize;
use thiserror::Error;

/// A tile that receives an extra share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hotspot {
    /// Column from the west.
    pub x: u32,
    /// Row from the south.
    pub y: u32,
    /// Share of all packets that are sent to it, 0 to 1.
    pub share: f64,
}

/// Default share of the packets that go to a hotspot.
pub const HOTSPOT_SHARE: f64 = 0.1;

/// A pattern that is impossible on this mesh.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PatternError {
    /// The pattern swaps coordinates.
    #[error("{pattern} traffic needs a square mesh, and this one is {cols}x{rows}\n  help: set mesh.cols and mesh.rows alike, or use another pattern, for example uniform")]
    NotSquare {
        /// Requested pattern.
        pattern: &'static str,
        /// Columns of the mesh.
        cols: u32,
        /// Rows of the mesh.
        rows: u32,
    },
    /// The pattern permutes index bits.
    #[error("{pattern} traffic permutes the bits of the tile index and needs a power of two of columns and of rows, and this mesh is {cols}x{rows}\n  help: use 2, 4, 8 or 16, or another pattern, for example tornado")]
    NotPowerOfTwo {
        /// Requested pattern.
        pattern: &'static str,
        /// Columns of the mesh.
        cols: u32,
        /// Rows of the mesh.
        rows: u32,
    },
    /// Every source maps to itself.
    #[error("{pattern} traffic sends every packet of a {cols}x{rows} mesh to its own tile, so nothing would move\n  help: use a larger mesh or another pattern, for example uniform")]
    NothingMoves {
        /// Requested pattern.
        pattern: &'static str,
        /// Columns of the mesh.
        cols: u32,
        /// Rows of the mesh.
        rows: u32,
    },
    /// A hotspot outside the mesh.
    #[error("hotspot {x},{y} is not a tile of this {cols}x{rows} mesh\n  help: columns count from 0 in the west, rows from 0 in the south")]
    HotspotOutside {
        /// Requested column.
        x: u32,
        /// Requested row.
        y: u32,
        /// Columns of the mesh.
        cols: u32,
        /// Rows of the mesh.
        rows: u32,
    },
    /// Shares of hotspots that are negative or above 1 in total.
    #[error("the hotspots draw {total} of the packets, which is not between 0 and 1\n  help: give each its share, for example --hotspot 3,3:0.1")]
    HotspotShare {
        /// Sum of all shares.
        total: f64,
    },
}

/// A pattern on a mesh.
#[derive(Debug, Clone)]
pub struct Pattern {
    mesh: Mesh,
    map: Map,
}

#[derive(Debug, Clone)]
enum Map {
    /// One destination for each source; `None` where it would be the source itself.
    Fixed(Vec<Option<NodeId>>),
    /// Hotspots with the running sum of their shares, then uniform.
    Random(Vec<(NodeId, f64)>),
    /// Each destination with a rate of its own.
    Rates(Matrix),
}

impl Pattern {
    /// The pattern `kind` on `mesh`. Only [`PatternKind::Hotspot`] reads `hotspots`; empty means
    /// one at the centre with [`HOTSPOT_SHARE`].
    ///
    /// # Errors
    /// If the mesh cannot have this pattern.
    pub fn new(kind: PatternKind, mesh: Mesh, hotspots: &[Hotspot]) -> Result<Pattern, PatternError> {
        let (cols, rows) = (mesh.cols(), mesh.rows());
        let pattern = kind.name();
        let fixed = |to: &dyn Fn(u32, u32) -> (u32, u32)| {
            let to = |node| {
                let (x, y) = mesh.coords(node);
                let (x, y) = to(x, y);
                mesh.node(x, y).filter(|&dest| dest != node)
            };
            let map: Vec<_> = mesh.nodes().map(to).collect();
            if map.iter().all(Option::is_none) {
                return Err(PatternError::NothingMoves { pattern, cols, rows });
            }
            Ok(Map::Fixed(map))
        };
        let powers_of_two = || match cols.is_power_of_two() && rows.is_power_of_two() {
            true => Ok(()),
            false => Err(PatternError::NotPowerOfTwo { pattern, cols, rows }),
        };
        let map = match kind {
            // Multicast and mixed traffic has packets with one destination, too.
            PatternKind::Uniform | PatternKind::Multicast | PatternKind::Mixed => Map::Random(Vec::new()),
            PatternKind::Hotspot => Map::Random(hot(mesh, hotspots)?),
            PatternKind::Transpose if cols != rows => {
                return Err(PatternError::NotSquare { pattern, cols, rows })
            }
            PatternKind::Transpose => fixed(&|x, y| (y, x))?,
            PatternKind::BitComplement => {
                powers_of_two()?;
                fixed(&|x, y| (cols - 1 - x, rows - 1 - y))?
            }
            PatternKind::BitReverse => {
                powers_of_two()?;
                let bits = (cols * rows).trailing_zeros();
                fixed(&|x, y| {
                    let index = (y * cols + x).reverse_bits() >> (32 - bits);
                    (index % cols, index / cols)
                })?
            }
            PatternKind::Shuffle => {
                powers_of_two()?;
                let bits = (cols * rows).trailing_zeros();
                fixed(&|x, y| {
                    let index = y * cols + x;
                    let index = (index << 1 | index >> (bits - 1)) & (cols * rows - 1);
                    (index % cols, index / cols)
                })?
            }
            PatternKind::Tornado => {
                fixed(&|x, y| ((x + cols.div_ceil(2) - 1) % cols, (y + rows.div_ceil(2) - 1) % rows))?
            }
            PatternKind::Neighbour => fixed(&|x, y| ((x + 1) % cols, (y + 1) % rows))?,
            PatternKind::AllToOne => fixed(&|_, _| middle(mesh))?,
        };
        Ok(Pattern { mesh, map })
    }

    /// The pattern of rates between tiles.
    pub fn of_rates(mesh: Mesh, rates: Matrix) -> Pattern {
        Pattern { mesh, map: Map::Rates(rates) }
    }

    /// Destination of the next packet of `source`; `None` if the pattern maps it to itself.
    pub fn destination(&self, source: NodeId, rng: &mut impl Rng) -> Option<NodeId> {
        match &self.map {
            Map::Fixed(map) => map[source.index()],
            Map::Rates(rates) => rates.destination(source, rng),
            Map::Random(hotspots) => {
                if !hotspots.is_empty() {
                    let draw = unit(rng);
                    let hit = hotspots.iter().find(|(_, up_to)| draw < *up_to);
                    // A hotspot does not send to itself: its own hot packets are spread evenly.
                    if let Some(&(hot, _)) = hit.filter(|(hot, _)| *hot != source) {
                        return Some(hot);
                    }
                }
                other_tile(self.mesh, source, rng)
            }
        }
    }

    /// Part of the offered load that `source` sends; 0 if it sends nothing.
    pub fn share(&self, source: NodeId) -> f64 {
        match &self.map {
            Map::Fixed(map) if map[source.index()].is_none() => 0.0,
            Map::Fixed(_) | Map::Random(_) => 1.0,
            Map::Rates(rates) => rates.share(source),
        }
    }
}

/// `k` distinct tiles other than `source`, every such set with equal probability (Floyd's
/// algorithm). If `k` is at least the number of other tiles, all of them.
pub fn random_set(mesh: Mesh, source: NodeId, k: u32, rng: &mut impl Rng) -> TileSet {
    let others = mesh.tiles() as u64 - 1;
    let k = u64::from(k).min(others);
    let mut set = TileSet::EMPTY;
    // Draws over the other tiles: the source's index is skipped.
    let tile = |n: u64| n as usize + usize::from(n as usize >= source.index());
    for last in others - k..others {
        if !set.insert(tile(below(last + 1, rng))) {
            set.insert(tile(last));
        }
    }
    set
}

/// Column and row of the tile in the middle; of an even number, the lower one.
fn middle(mesh: Mesh) -> (u32, u32) {
    ((mesh.cols() - 1) / 2, (mesh.rows() - 1) / 2)
}

fn hot(mesh: Mesh, hotspots: &[Hotspot]) -> Result<Vec<(NodeId, f64)>, PatternError> {
    let (cols, rows) = (mesh.cols(), mesh.rows());
    let (x, y) = middle(mesh);
    let centre = [Hotspot { x, y, share: HOTSPOT_SHARE }];
    let hotspots = if hotspots.is_empty() { &centre } else { hotspots };
    let mut total = 0.0;
    let mut sums = Vec::new();
    for &Hotspot { x, y, share } in hotspots {
        let node = mesh.node(x, y).ok_or(PatternError::HotspotOutside { x, y, cols, rows })?;
        total += share;
        if !(share >= 0.0 && total <= 1.0 + 1e-9) {
            return Err(PatternError::HotspotShare { total });
        }
        sums.push((node, total));
    }
    Ok(sums)
}

fn other_tile(mesh: Mesh, source: NodeId, rng: &mut impl Rng) -> Option<NodeId> {
    let draw = below(mesh.tiles() as u64 - 1, rng) as usize;
    mesh.node_at(draw + usize::from(draw >= source.index()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::design::Design;
    use rand_pcg::Pcg64;

    fn mesh(cols: u32, rows: u32) -> Mesh {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (cols, rows);
        Design::from_config("test", &config).expect("legal").mesh
    }

    fn to(kind: PatternKind, mesh: Mesh, x: u32, y: u32) -> Option<(u32, u32)> {
        let pattern = Pattern::new(kind, mesh, &[]).expect("pattern fits the mesh");
        let source = mesh.node(x, y).expect("tile");
        pattern.destination(source, &mut Pcg64::new(1, 1)).map(|d| mesh.coords(d))
    }

    #[test]
    fn fixed_patterns_follow_dally_and_towles() {
        use PatternKind::*;
        let m = mesh(8, 8);
        assert_eq!(to(Transpose, m, 2, 5), Some((5, 2)));
        assert_eq!(to(Transpose, m, 3, 3), None);
        assert_eq!(to(BitComplement, m, 0, 1), Some((7, 6)));
        // 0b000_001 -> 0b100_000
        assert_eq!(to(BitReverse, m, 1, 0), Some((0, 4)));
        assert_eq!(to(BitReverse, m, 0, 0), None);
        // 0b100_011 -> 0b000_111
        assert_eq!(to(Shuffle, m, 3, 4), Some((7, 0)));
        assert_eq!(to(Shuffle, m, 7, 7), None);
        assert_eq!(to(Tornado, m, 0, 7), Some((3, 2)));
        assert_eq!(to(Neighbour, m, 7, 0), Some((0, 1)));
        assert_eq!(to(Tornado, mesh(5, 3), 0, 0), Some((2, 1)));
        assert_eq!(to(AllToOne, m, 7, 0), Some((3, 3)));
        assert_eq!(to(AllToOne, m, 3, 3), None);
        assert_eq!(to(AllToOne, mesh(5, 2), 4, 1), Some((2, 0)));
        assert_eq!(to(BitReverse, mesh(8, 2), 1, 0), Some((0, 1)));
    }

    #[test]
    fn patterns_that_a_mesh_cannot_have_are_refused() {
        let refused = |kind, cols, rows| Pattern::new(kind, mesh(cols, rows), &[]).expect_err("refused");
        let text = refused(PatternKind::Transpose, 4, 2).to_string();
        assert!(text.starts_with("transpose traffic needs a square mesh, and this one is 4x2"), "{text}");
        assert!(matches!(refused(PatternKind::BitReverse, 6, 4), PatternError::NotPowerOfTwo { .. }));
        assert!(matches!(refused(PatternKind::BitComplement, 4, 3), PatternError::NotPowerOfTwo { .. }));
        assert!(matches!(refused(PatternKind::Tornado, 2, 2), PatternError::NothingMoves { .. }));
    }

    #[test]
    fn hotspots_outside_the_mesh_or_over_all_packets_are_refused() {
        let m = mesh(4, 4);
        let at = |x, y, share| Pattern::new(PatternKind::Hotspot, m, &[Hotspot { x, y, share }]);
        assert!(matches!(at(4, 0, 0.1), Err(PatternError::HotspotOutside { x: 4, .. })));
        assert!(matches!(at(0, 0, 1.1), Err(PatternError::HotspotShare { .. })));
        assert!(matches!(at(0, 0, f64::NAN), Err(PatternError::HotspotShare { .. })));
    }

    #[test]
    fn uniform_reaches_every_other_tile_alike() {
        let m = mesh(4, 4);
        let pattern = Pattern::new(PatternKind::Uniform, m, &[]).expect("uniform fits");
        let source = m.node(1, 2).expect("tile");
        let mut rng = Pcg64::new(7, 1);
        let mut hits = [0; 16];
        for _ in 0..15_000 {
            hits[pattern.destination(source, &mut rng).expect("uniform always sends").index()] += 1;
        }
        assert_eq!(hits[source.index()], 0);
        assert!(hits.iter().enumerate().all(|(i, &n)| i == source.index() || (850..1150).contains(&n)));
    }

    #[test]
    fn hotspot_draws_its_share_on_top_of_uniform() {
        let m = mesh(8, 8);
        let pattern = Pattern::new(PatternKind::Hotspot, m, &[]).expect("hotspot fits");
        let (hot, source) = (m.node(3, 3).expect("tile"), m.node(0, 0).expect("tile"));
        let mut rng = Pcg64::new(7, 1);
        let hits = (0..20_000).filter(|_| pattern.destination(source, &mut rng) == Some(hot)).count();
        // 0.1 + 0.9 / 63 of 20 000.
        assert!((2_100..2_470).contains(&hits), "{hits}");
        assert_ne!(pattern.destination(hot, &mut rng), Some(hot));
    }

    #[test]
    fn random_sets_have_the_fan_out_and_never_the_source() {
        let m = mesh(8, 8);
        let mut rng = Pcg64::new(3, 1);
        let mut hits = [0; 64];
        for _ in 0..4_000 {
            for source in [m.node(0, 0), m.node(4, 4), m.node(7, 7)].into_iter().flatten() {
                let set = random_set(m, source, 8, &mut rng);
                assert_eq!(set.len(), 8);
                assert!(!set.contains(source.index()));
                set.iter().for_each(|i| hits[i] += 1);
            }
        }
        assert_eq!(random_set(m, m.node(5, 5).expect("tile"), 63, &mut rng).len(), 63);
        // 4 000 x 8 x 3 / 63 from other sources.
        assert!(hits[10..30].iter().all(|n| (1_350..1_700).contains(n)), "{hits:?}");
    }
}
