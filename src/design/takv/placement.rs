//! Placement: the home tile of a block of the cache, and its number in that home.
//!
//! A block is the unit that shares a home: the slices of all KV heads of a segment (the paper's macro-block), or one slice
//! ([`Spread`]). `meshkv_placement` computes the same from running residues and is checked against this formula. Swaps
//! exchange homes between two decode steps; this is the *logical* home.

use crate::config::Config;
use crate::design::mare::slice::segments;
use crate::design::network::mesh::{Mesh, NodeId};

pub use crate::config::{PlacementKind, Spread};

/// Homes of the blocks of all layers and segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The placement rule.
    pub kind: PlacementKind,
    /// Tiles from west to east.
    pub cols: u32,
    /// Tiles from south to north.
    pub rows: u32,
    /// Unit that has a home of its own.
    pub spread: Spread,
    /// Rows between the first homes of consecutive layers.
    pub a: u32,
    /// Columns by which a layer advances after each `rows` segments.
    pub column_stride: u32,
    /// The tile that homes everything under [`PlacementKind::Hub`].
    pub hub: NodeId,
    /// Layers of the model.
    pub layers: u32,
    /// Segments of a layer at the longest context.
    pub segments: u32,
    /// Numbers that the rule places: those of the segments of a layer, or of the pages of all caches.
    pub places: u32,
    /// The rule places pages, whichever cache they are of.
    pub pages: bool,
    /// Tokens of a segment (P).
    pub segment_tokens: u32,
    /// KV heads of the model.
    pub kv_heads: u32,
}

impl Placement {
    /// The placement of a configuration; none if its hub is outside the mesh.
    pub(in crate::design) fn new(config: &Config, mesh: Mesh) -> Option<Placement> {
        let takv = &config.takv;
        let segments = segments(config);
        let placement = Placement {
            kind: takv.placement,
            spread: takv.spread,
            cols: mesh.cols(),
            rows: mesh.rows(),
            a: takv.a.unwrap_or_else(|| default_stride(mesh.cols(), mesh.rows())),
            column_stride: takv.column_stride,
            hub: mesh.node(takv.hub_x, takv.hub_y)?,
            layers: config.model.layers,
            segments,
            places: segments,
            pages: false,
            segment_tokens: config.kv.segment_tokens,
            kv_heads: config.model.kv_heads,
        };
        if !config.kv.pages {
            return Some(placement);
        }
        let places = page_count(config, segments, placement.round());
        Some(Placement { places, pages: true, ..placement })
    }

    /// The placement of one cache of so many segments.
    pub(in crate::design) fn of_segments(&self, segments: u32) -> Placement {
        Placement { segments, places: segments, ..*self }
    }

    /// Caches that have numbers of their own at a home: all pages are of one pool.
    pub fn numbered_caches(&self, streams: u32) -> u32 {
        if self.pages {
            1
        } else {
            streams
        }
    }

    /// True if each slice has a home of its own.
    pub fn by_slice(&self) -> bool {
        self.spread == Spread::Slice
    }

    /// KV heads of a column where slices have homes of their own: all columns compute as many.
    pub fn column_kv_heads(&self) -> u32 {
        (self.kv_heads / self.cols).max(1)
    }

    /// Column of the homes of a KV head's slices, where they have homes of their own, and its place among the KV heads there.
    pub fn own_column(&self, kv_head: u32) -> (u32, u32) {
        (kv_head / self.column_kv_heads(), kv_head % self.column_kv_heads())
    }

    /// Rows by which the homes of a KV head are turned against those of the first of its column: the KV heads of a column are
    /// dealt over the rows, so that a short context uses all of them.
    pub fn turn(&self, kv_head: u32) -> u32 {
        self.own_column(kv_head).1 * self.rows / self.column_kv_heads()
    }

    /// The home of a slice before any swap: of segment `segment` of layer `layer` in the cache of stream or prefix `cache`. With
    /// pages `segment` is the page, whichever cache it is of.
    ///
    /// Where slices have homes of their own, the first row moves on with the cache: short streams of a batch use all rows.
    pub fn home_of(&self, cache: u32, layer: u32, segment: u32, kv_head: u32) -> NodeId {
        if !self.by_slice() {
            return self.home(layer, segment);
        }
        let cache = if self.pages { 0 } else { cache };
        let ahead = [cache, self.turn(kv_head), segment].into_iter().map(u64::from).sum::<u64>();
        let y = (u64::from(self.a) * u64::from(layer) + ahead) % u64::from(self.rows);
        self.mesh().node(self.own_column(kv_head).0, y as u32).expect("a column and a residue")
    }

    /// The home of segment `segment` of layer `layer` under [`Spread::Segment`], before any swap.
    pub fn home(&self, layer: u32, segment: u32) -> NodeId {
        let (l, s) = (u64::from(layer), u64::from(segment));
        let (cols, rows) = (u64::from(self.cols), u64::from(self.rows));
        let (x, y) = match self.kind {
            PlacementKind::Takv => {
                ((l + u64::from(self.column_stride) * (s / rows)) % cols, (u64::from(self.a) * l + s) % rows)
            }
            PlacementKind::RoundRobin => {
                let tile = self.number(layer, segment) % (cols * rows);
                (tile % cols, tile / cols)
            }
            PlacementKind::Hub => return self.hub,
        };
        self.mesh().node(x as u32, y as u32).expect("both are residues")
    }

    /// The number of a slice among those of its home and of one cache. No two of them share a number. Under TaKV some homes
    /// skip numbers when the mesh does not divide the model.
    pub fn slice_in_home(&self, layer: u32, segment: u32, kv_head: u32) -> u64 {
        let place = if self.by_slice() { self.own_column(kv_head).1 } else { kv_head };
        u64::from(self.block(layer, segment)) * u64::from(self.block_slices()) + u64::from(place)
    }

    /// Slices of one segment that have a common home, or homes in one column: those of a number of [`Placement::block`].
    pub fn block_slices(&self) -> u32 {
        match self.spread {
            Spread::Segment => self.kv_heads,
            Spread::Slice => self.column_kv_heads(),
        }
    }

    /// The number of a segment in its home, or in a home of each column. Each has [`Placement::block_slices`] slices.
    pub fn block(&self, layer: u32, segment: u32) -> u32 {
        match self.kind {
            _ if self.by_slice() => layer * self.places.div_ceil(self.rows) + segment / self.rows,
            PlacementKind::Takv => layer / self.cols * self.places.div_ceil(self.rows) + segment / self.rows,
            PlacementKind::RoundRobin => {
                (self.number(layer, segment) / u64::from(self.cols * self.rows)) as u32
            }
            PlacementKind::Hub => self.number(layer, segment) as u32,
        }
    }

    /// Size of the number range of a home: one more than the largest [`Placement::block`].
    pub fn blocks_of_home(&self) -> u32 {
        let tiles = u64::from(self.cols * self.rows);
        saturated(match self.kind {
            _ if self.by_slice() => u64::from(self.layers) * u64::from(self.places.div_ceil(self.rows)),
            PlacementKind::Takv => {
                u64::from(self.layers.div_ceil(self.cols)) * u64::from(self.places.div_ceil(self.rows))
            }
            PlacementKind::RoundRobin => self.all_blocks().div_ceil(tiles),
            PlacementKind::Hub => self.all_blocks(),
        })
    }

    /// Blocks of the first cache on each tile, by its index: macro-blocks, or slices where they have homes of their own.
    pub fn blocks(&self) -> Vec<u32> {
        let mut counts = vec![0_u64; self.mesh().tiles()];
        for layer in 0..self.layers {
            for (count, more) in counts.iter_mut().zip(self.blocks_of_layer(layer)) {
                *count += u64::from(more);
            }
        }
        counts.into_iter().map(saturated).collect()
    }

    /// Name of a block in messages.
    pub fn block_name(&self) -> &'static str {
        match self.spread {
            Spread::Segment => "macro-blocks",
            Spread::Slice => "slices",
        }
    }

    /// The rule in a few words.
    pub fn rule(&self) -> String {
        let (x, y) = self.mesh().coords(self.hub);
        match self.kind {
            PlacementKind::Takv if self.by_slice() => format!("takv by slice, a = {}", self.a),
            PlacementKind::Takv => format!("takv, a = {}, column_stride = {}", self.a, self.column_stride),
            PlacementKind::RoundRobin => "round robin".to_owned(),
            PlacementKind::Hub => format!("hub at tile ({x}, {y})"),
        }
    }

    /// Slices of a block.
    pub fn slices_of_block(&self) -> u32 {
        match self.spread {
            Spread::Segment => self.kv_heads,
            Spread::Slice => 1,
        }
    }

    /// Blocks of all layers and segments of a cache.
    pub fn all_blocks(&self) -> u64 {
        self.number(self.layers, 0) * u64::from(self.kv_heads / self.slices_of_block())
    }

    /// Blocks of one layer on each tile. They are counted by rounds over the tiles, not one by one: a long context has
    /// millions of segments.
    pub fn blocks_of_layer(&self, layer: u32) -> Vec<u32> {
        let mut counts = vec![0; self.mesh().tiles()];
        // Under every rule, homes repeat after as many segments as there are tiles.
        let period = self.cols * self.rows;
        for segment in 0..period.min(self.places) {
            for home in self.homes_of(layer, segment) {
                counts[home.index()] += (self.places - segment).div_ceil(period);
            }
        }
        counts
    }

    /// Homes of the blocks of a segment in the first cache.
    pub fn homes_of(&self, layer: u32, segment: u32) -> impl Iterator<Item = NodeId> + '_ {
        let blocks = (0..self.kv_heads).step_by(self.slices_of_block() as usize);
        blocks.map(move |kv_head| self.home_of(0, layer, segment, kv_head))
    }

    /// The first segment of a layer on each tile, by its index; none for tiles without segments.
    pub fn first_segments(&self, layer: u32) -> Vec<Option<u32>> {
        let mut first = vec![None; self.mesh().tiles()];
        for segment in 0..(self.cols * self.rows).min(self.places) {
            for home in self.homes_of(layer, segment) {
                first[home.index()].get_or_insert(segment);
            }
        }
        first
    }

    /// Segments of a layer after which its homes repeat, in the same order.
    pub fn round(&self) -> u32 {
        match self.kind {
            _ if self.by_slice() => self.rows,
            PlacementKind::Takv => self.rows * (self.cols / gcd(self.column_stride, self.cols)),
            PlacementKind::RoundRobin => self.cols * self.rows,
            PlacementKind::Hub => 1,
        }
    }

    /// Homes that share external memory evenly. A hub has all of it.
    pub fn homes(&self) -> u32 {
        match self.kind {
            PlacementKind::Hub => 1,
            PlacementKind::Takv | PlacementKind::RoundRobin => self.cols * self.rows,
        }
    }

    /// True if the tile in column `x` and row `y` is a home.
    pub fn is_home(&self, x: u32, y: u32) -> bool {
        self.kind != PlacementKind::Hub || self.mesh().coords(self.home(0, 0)) == (x, y)
    }

    /// Segments after which the order of visited homes restarts (R): a power of two, at least the number of
    /// homes in a layer. Where slices have homes of their own, segments are visited as they follow each other.
    pub fn rotation(&self) -> u32 {
        match self.kind {
            _ if self.by_slice() => 2,
            PlacementKind::Takv if self.column_stride == 0 => self.rows.next_power_of_two(),
            PlacementKind::Takv | PlacementKind::RoundRobin => (self.cols * self.rows).next_power_of_two(),
            // A single home gets two turns, so that a place in a group has a bit.
            PlacementKind::Hub => 2,
        }
    }

    /// Turns of a lap (a power of two, at most R): one through the rows of a home column. A lap is made for all heads and
    /// groups before the next begins, so that a tile stays at a home for as many slices as it can.
    pub fn lap(&self) -> u32 {
        match self.kind {
            _ if self.by_slice() => self.rotation(),
            PlacementKind::Takv => self.rows.next_power_of_two(),
            PlacementKind::RoundRobin | PlacementKind::Hub => self.rotation(),
        }
    }

    /// The first turn of each lap, in order.
    pub fn laps(&self) -> impl Iterator<Item = u32> {
        (0..self.rotation()).step_by(self.lap() as usize)
    }

    /// Group and turn of the visits of a piece in the lap that begins with turn `from`, of so many segments, in order.
    pub fn visits(&self, from: u32, count: u32) -> impl Iterator<Item = (u32, u32)> {
        let lap = self.lap();
        let groups = 0..count.div_ceil(self.rotation());
        groups.flat_map(move |group| (from..from + lap).map(move |turn| (group, turn)))
    }

    fn mesh(&self) -> Mesh {
        Mesh::new(self.cols, self.rows)
    }

    fn number(&self, layer: u32, segment: u32) -> u64 {
        u64::from(layer) * u64::from(self.places) + u64::from(segment)
    }
}

/// Pages of a configuration whose caches have so many segments, and whose homes repeat after `round` of them.
fn page_count(config: &Config, segments: u32, round: u32) -> u32 {
    let of_cache = u64::from(segments).next_multiple_of(u64::from(round));
    let all = u64::from(config.model.max_streams) * of_cache;
    config.kv.page_count.unwrap_or_else(|| u32::try_from(all).unwrap_or(u32::MAX))
}

/// Counts beyond 32 bits belong to caches that no legal memory holds.
fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Greatest common divisor.
pub(in crate::design) fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// A legal placement stride: odd and coprime to `rows` (section TaKV of the paper).
pub(in crate::design) fn legal_stride(a: u32, rows: u32) -> bool {
    a % 2 == 1 && gcd(a, rows) == 1
}

/// `cols + 1` if that is legal, else the smallest legal stride.
pub(in crate::design) fn default_stride(cols: u32, rows: u32) -> u32 {
    std::iter::once(cols + 1).chain(1..).find(|&a| legal_stride(a, rows)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use crate::design::takv::placement::*;
    use std::collections::BTreeSet;

    fn placement(kind: PlacementKind, change: impl Fn(&mut Config)) -> Placement {
        let mut config = Config::default();
        config.takv.placement = kind;
        change(&mut config);
        Placement::new(&config, Mesh::new(config.mesh.cols, config.mesh.rows)).unwrap()
    }

    /// Meshes and models that divide one another and that do not, under every rule.
    fn all() -> Vec<Placement> {
        let mut all = Vec::new();
        for kind in [PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub] {
            for (cols, rows, layers, segments) in
                [(8, 8, 32, 64), (3, 2, 4, 33), (5, 7, 13, 50), (16, 4, 3, 1), (2, 16, 9, 257)]
            {
                for column_stride in [0, 1, cols - 1] {
                    all.push(placement(kind, |c| {
                        (c.mesh.cols, c.mesh.rows, c.model.layers) = (cols, rows, layers);
                        (c.takv.column_stride, c.model.max_tokens) = (column_stride, 64 * segments);
                        (c.takv.hub_x, c.takv.hub_y) = (cols / 2, 1);
                    }));
                }
            }
        }
        all
    }

    fn everything(p: &Placement) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..p.layers).flat_map(|l| (0..p.segments).map(move |s| (l, s)))
    }

    #[test]
    fn homes_are_those_of_the_plain_formulas() {
        for p in all() {
            for (l, s) in everything(&p) {
                let n = l * p.segments + s;
                let expected = match p.kind {
                    PlacementKind::Takv => {
                        ((l + p.column_stride * (s / p.rows)) % p.cols, (p.a * l + s) % p.rows)
                    }
                    PlacementKind::RoundRobin => (n % (p.cols * p.rows) % p.cols, n / p.cols % p.rows),
                    PlacementKind::Hub => (p.cols / 2, 1),
                };
                assert_eq!(p.mesh().coords(p.home(l, s)), expected, "{p:?} {l} {s}");
            }
        }
    }

    #[test]
    fn no_two_macro_blocks_share_a_place_and_all_are_inside_their_region() {
        for p in all() {
            let mut places = BTreeSet::new();
            for (l, s) in everything(&p) {
                assert!(p.block(l, s) < p.blocks_of_home(), "{p:?} {l} {s}");
                assert!(places.insert((p.home(l, s), p.block(l, s))), "{p:?} {l} {s}");
            }
            let highest = everything(&p).map(|(l, s)| p.block(l, s)).max();
            assert_eq!(highest, Some(p.blocks_of_home() - 1), "{p:?}");
        }
    }

    #[test]
    fn blocks_are_counted_without_visiting_each() {
        for p in all() {
            let mut counts = vec![0; p.mesh().tiles()];
            everything(&p).for_each(|(l, s)| counts[p.home(l, s).index()] += 1);
            assert_eq!(p.blocks(), counts, "{p:?}");
            for (tile, first) in p.first_segments(p.layers - 1).into_iter().enumerate() {
                let of_tile = |&s: &u32| p.home(p.layers - 1, s).index() == tile;
                assert_eq!(first, (0..p.segments).find(of_tile), "{p:?}");
            }
        }
    }

    #[test]
    fn the_papers_placement_gives_every_tile_its_share() {
        assert_eq!(placement(PlacementKind::Takv, |_| {}).blocks(), vec![256; 64]);
    }

    #[test]
    fn homes_repeat_after_a_round_and_not_before() {
        for p in all() {
            let round = p.round();
            let repeats = |after: u32| (0..256).all(|s| p.home(1, s) == p.home(1, s + after));
            assert!(repeats(round), "{p:?}");
            assert!((1..round).all(|less| !repeats(less)), "{p:?}");
        }
    }

    /// Within a rotation every home of a layer is visited, none more often than necessary.
    #[test]
    fn a_rotation_has_a_turn_for_every_home_of_a_layer() {
        for p in all() {
            let homes: BTreeSet<_> = (0..p.segments).map(|s| p.home(0, s)).collect();
            assert!(p.rotation().is_power_of_two() && p.rotation() as usize >= homes.len(), "{p:?}");
        }
        let rotation = |kind, stride| placement(kind, |c| c.takv.column_stride = stride).rotation();
        assert_eq!([0, 1].map(|stride| rotation(PlacementKind::Takv, stride)), [8, 64]);
        assert_eq!([PlacementKind::RoundRobin, PlacementKind::Hub].map(|kind| rotation(kind, 0)), [64, 2]);
    }

    #[test]
    fn a_context_beyond_any_memory_is_counted_without_overflow() {
        for kind in [PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub] {
            let p = placement(kind, |c| {
                (c.model.layers, c.model.max_tokens, c.kv.segment_tokens) = (1024, 4_194_304, 1);
            });
            let all = if kind == PlacementKind::Hub { u32::MAX } else { 1 << 26 };
            assert_eq!((p.blocks_of_home(), p.blocks()[0]), (all, all));
        }
    }
}
