//! Parameters of a tile's blocks, derived from the design.

use crate::design::{index_bits, word_elements, Design, Mare, TOKEN_SCALE_BITS};

/// Sizes of everything except the routers, and the enabled options.
#[derive(Debug, Clone, Copy)]
pub struct MareParams {
    /// Tiles from west to east.
    pub cols: u32,
    /// Tiles from south to north.
    pub rows: u32,
    /// Virtual channels of VN0; the next one is KV_FETCH, those above it KV_DATA.
    pub vn0_vcs: u32,
    /// Virtual channels of a port.
    pub vcs: u32,
    /// Flits that a virtual channel buffers.
    pub vc_depth: u32,
    /// Destinations are sets of tiles, else coordinates.
    pub multicast: bool,
    /// Home agents and requesters.
    pub mare: Mare,
    /// Bits of a tag.
    pub tag_width: u32,
    /// Bits of a tag with its generation above it.
    pub key_width: u32,
    /// Bits of a flit's position in its slice.
    pub index_width: u32,
    /// Bits of a head mask.
    pub mask_width: u32,
    /// Bits of a column's number.
    pub x_width: u32,
    /// Bits of a row's number.
    pub y_width: u32,
    /// Bits of stream, layer, and head of a partial result.
    pub part_widths: [u32; 3],
    /// Elements of a K or V row: flits of a block of V.
    pub head_dim: u32,
    /// Elements of a word of a new token.
    pub word_elements: u32,
    /// Flits of a burst.
    pub burst_flits: u32,
    /// Bursts of a tile that can be in flight.
    pub bursts: u32,
    /// Words that a stop of the column bus buffers.
    pub bus_depth: u32,
    /// Rows between consecutive heads of a column, with one head a tile.
    pub row_step: u32,
    /// Fetch, multiply and reduce overlap.
    pub overlap: bool,
    /// Homes can swap.
    pub swaps: bool,
    /// The cache can be appended to.
    pub append: bool,
    /// Flits of a token's K, at least one.
    pub row_flits: u32,
    /// Tokens of a flit of scales.
    pub scales_of_flit: u32,
}

impl MareParams {
    /// Derives the parameters from a design.
    pub fn of(design: &Design) -> MareParams {
        let (flit, mesh) = (&design.flit, design.mesh);
        let part = |name: &str| flit.part.iter().find(|f| f.name == name).map_or(0, |f| f.width);
        MareParams {
            cols: mesh.cols(),
            rows: mesh.rows(),
            vn0_vcs: design.router.vn0_vcs,
            vcs: design.router.vcs(),
            vc_depth: design.router.vc_depth,
            multicast: design.router.multicast,
            mare: design.mare,
            tag_width: flit.tag_width(),
            key_width: flit.key_width(),
            index_width: flit.index_width(),
            mask_width: flit.mask_width(),
            x_width: index_bits(mesh.cols()),
            y_width: index_bits(mesh.rows()),
            part_widths: ["stream", "layer", "head"].map(part),
            head_dim: design.pe.head_dim,
            word_elements: word_elements(design.pe.format),
            burst_flits: design.memory.burst_flits,
            bursts: 1 << design.memory.slot_width,
            bus_depth: design.bus_depth(),
            row_step: design.heads.row_step(),
            overlap: design.pe.overlap,
            swaps: design.swaps(),
            append: design.append.is_some(),
            row_flits: design.row_flits(),
            scales_of_flit: design.flit.data_width / TOKEN_SCALE_BITS,
        }
    }

    /// Returns the tag of a key.
    pub fn tag(&self, key: u64) -> u64 {
        key & low_bits(self.tag_width)
    }

    /// Returns the tile at (x, y).
    pub fn tile(&self, x: u32, y: u32) -> usize {
        (y * self.cols + x) as usize
    }
}

/// Returns a mask of the low `width` bits.
pub fn low_bits(width: u32) -> u64 {
    u64::MAX.checked_shl(width).map_or(u64::MAX, |high| !high)
}

/// Splits the flits from `next` to `bound` at units of `unit` flits. Returns the last flit in the unit of
/// `next`, and whether it is `bound`.
pub fn up_to(next: u32, bound: u32, unit: u32) -> (u32, bool) {
    let ends = next / unit == bound / unit;
    (if ends { bound } else { next | (unit - 1) }, ends)
}
