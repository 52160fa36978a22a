//! Addresses of slices in external memory.

use super::design::Design;
use super::placement::PlacementKind;

impl Design {
    /// The number of a slice in memory; `prefix` is the stream or shared prefix whose cache it is.
    ///
    /// The number follows from the *logical* home: a swap changes the tile that reads a slice, not its
    /// address.
    pub fn slice_number(&self, prefix: u32, layer: u32, segment: u32, kv_head: u32) -> u64 {
        let (placement, model) = (&self.placement, &self.config.model);
        let home = match placement.kind {
            PlacementKind::Hub => 0,
            PlacementKind::Takv | PlacementKind::RoundRobin => placement.home(layer, segment).index() as u64,
        };
        let region = home * u64::from(model.max_streams) + u64::from(prefix);
        let block =
            region * u64::from(placement.blocks_of_home()) + u64::from(placement.block(layer, segment));
        block * u64::from(model.kv_heads) + u64::from(kv_head)
    }

    /// The byte at which a slice begins.
    pub fn slice_address(&self, prefix: u32, layer: u32, segment: u32, kv_head: u32) -> u64 {
        self.slice_number(prefix, layer, segment, kv_head) * self.memory.slice_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
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
