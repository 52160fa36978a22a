//! Addresses of slices in external memory.
//!
//! An address is the place of a home and a byte of its region. Both fields have bits of their own, so the port and the
//! channel of a home follow from the upper bits, whatever the size of its region.

use crate::design::card::memory::{region_bytes, Memory};
use crate::design::design::Design;
use crate::design::network::mesh::NodeId;
use crate::design::takv::descriptor::{named_again, Descriptor};

impl Design {
    /// The number of a slice in memory; `prefix` is the stream or shared prefix whose cache it is.
    ///
    /// The place of its home, then its number within the home. Both follow from the *logical* home: a swap changes the
    /// tile that reads a slice, not its address.
    pub fn slice_number(&self, prefix: u32, layer: u32, segment: u32, kv_head: u32) -> u64 {
        let (cache, place) = self.place_of(prefix, segment);
        self.number_at(cache, layer, place, kv_head)
    }

    /// The number of a slice in memory, of a segment and its cache as [`Design::place_of`] gives them.
    pub fn number_at(&self, cache: u32, layer: u32, place: u32, kv_head: u32) -> u64 {
        let placement = &self.placement;
        let (x, y) = self.mesh.coords(placement.home_of(cache, layer, place, kv_head));
        let of_cache = u64::from(placement.blocks_of_home()) * u64::from(placement.block_slices());
        let local = u64::from(cache) * of_cache + placement.slice_in_home(layer, place, kv_head);
        u64::from(self.memory.place_of_home(x, y)) << self.memory.local_width | local
    }

    /// The cache and number under which the placement has a segment: those of a slice's tag. With pages there is one cache,
    /// and the number is that of the page.
    pub fn place_of(&self, cache: u32, segment: u32) -> (u32, u32) {
        match &self.pages {
            Some(pages) => (0, pages.of(cache, segment)),
            None => (cache, segment),
        }
    }

    /// A cache and segment that two of these descriptors name, for runs where that is illegal.
    pub fn named_twice(&self, descriptors: &[Descriptor]) -> Option<(u32, u32)> {
        named_again(descriptors, |cache, segment| self.place_of(cache, segment))
    }

    /// The home of a slice before any swap: of a segment of a layer in the cache of a stream or prefix.
    pub fn home_of(&self, cache: u32, layer: u32, segment: u32, kv_head: u32) -> NodeId {
        let (cache, place) = self.place_of(cache, segment);
        self.placement.home_of(cache, layer, place, kv_head)
    }

    /// The byte at which a slice begins.
    pub fn slice_address(&self, prefix: u32, layer: u32, segment: u32, kv_head: u32) -> u64 {
        self.memory.address_of(self.slice_number(prefix, layer, segment, kv_head))
    }

    /// Bytes of the region of a home.
    pub fn region_bytes(&self) -> u128 {
        region_bytes(&self.config, &self.placement)
    }

    /// Places of the homes behind a memory port, among its own.
    pub fn homes_of_port(&self, port: u32) -> impl Iterator<Item = u32> + '_ {
        let memory = &self.memory;
        let (y, first) = (port / memory.row_ports, port % memory.row_ports * memory.tiles_per_port);
        let places = 0..memory.tiles_per_port.min(self.mesh.cols() - first);
        places.filter(move |place| self.placement.is_home(first + place, y))
    }

    /// Ports of memory with a home behind them.
    pub fn ports_with_homes(&self) -> usize {
        (0..self.memory.ports).filter(|port| self.homes_of_port(*port).next().is_some()).count()
    }
}

impl Memory {
    /// The byte at which the slice of a number begins.
    pub fn address_of(&self, number: u64) -> u64 {
        let local = number & ((1 << self.local_width) - 1);
        let region = number >> self.local_width;
        (region << self.region_width) | (local * self.slice_bytes)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::takv::slice_address::*;
    use crate::design::PlacementKind;
    use std::collections::BTreeSet;

    fn design(change: impl Fn(&mut Config)) -> Design {
        let mut config = Config::default();
        change(&mut config);
        Design::from_config("test", &config).unwrap()
    }

    #[test]
    fn no_two_slices_overlap_and_all_have_an_address() {
        for kind in [PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub] {
            let design = design(|c| {
                (c.mesh.cols, c.mesh.rows, c.takv.placement) = (3, 2, kind);
                (c.model.layers, c.model.heads, c.model.kv_heads) = (4, 6, 3);
                (c.model.max_tokens, c.model.max_streams) = (64 * 9, 2);
            });
            let mut taken = BTreeSet::new();
            for prefix in 0..2 {
                for (layer, segment) in (0..4).flat_map(|l| (0..9).map(move |s| (l, s))) {
                    for kv_head in 0..3 {
                        assert!(taken.insert(design.slice_number(prefix, layer, segment, kv_head)));
                        let address = design.slice_address(prefix, layer, segment, kv_head);
                        assert!(address + design.memory.slice_bytes <= 1 << design.memory.addr_width);
                    }
                }
            }
        }
    }
}
