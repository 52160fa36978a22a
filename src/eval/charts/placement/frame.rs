//! Layout of the picture: the mesh, the legend next to it, small maps below.

use crate::design::Design;

/// Layers of which the first segments are shown.
const LAYERS_SHOWN: u32 = 3;

/// Distance of tiles.
const PITCH: u32 = 64;
/// Side of a tile: its number of macro-blocks, and below it the filled part.
pub(super) const SIDE: u32 = 56;
pub(super) const LABEL: u32 = 16;
pub(super) const TANK: u32 = SIDE - LABEL;
/// Cell of a small map.
pub(super) const CELL: u32 = 20;
/// Margin around all parts, for titles, row numbers, the legend, and between maps.
pub(super) const MARGIN: u32 = 24;
pub(super) const TITLE: u32 = 62;
const AXIS: u32 = 40;
const LEGEND: u32 = 190;
pub(super) const LINE: u32 = 20;

/// Positions of the parts.
pub(super) struct Frame {
    pub(super) width: u32,
    pub(super) height: u32,
    rows: u32,
    /// Top of the small maps, which are this many in a row.
    pub(super) maps: u32,
    maps_in_a_row: u32,
    pub(super) layers: std::ops::Range<u32>,
}

impl Frame {
    pub(super) fn new(design: &Design, colours: u32) -> Frame {
        let (cols, rows) = (design.mesh.cols(), design.mesh.rows());
        let layers = 0..LAYERS_SHOWN.min(design.placement.layers);
        let (map_width, map_height) = (cols * CELL + AXIS, rows * CELL + 2 * LINE);
        let mesh_and_legend = AXIS + cols * PITCH + LEGEND;
        // The legend is next to the mesh; both can be narrower or shorter than the other parts.
        let inner = mesh_and_legend.max(map_width).max(420);
        let maps_in_a_row = (inner / map_width).clamp(1, layers.end);
        let legend_height = (colours + 4) * LINE;
        let maps = MARGIN + TITLE + (rows * PITCH + AXIS).max(legend_height) + 30;
        let height = maps + layers.end.div_ceil(maps_in_a_row) * map_height;
        Frame { width: inner + 2 * MARGIN, height, rows, maps, maps_in_a_row, layers }
    }

    /// Top left corner of a tile.
    pub(super) fn corner(&self, x: u32, y: u32) -> (u32, u32) {
        (MARGIN + AXIS + x * PITCH, MARGIN + TITLE + (self.rows - 1 - y) * PITCH)
    }

    /// Top left corner of the small map with this number.
    pub(super) fn map_corner(&self, design: &Design, i: u32) -> (u32, u32) {
        let (column, row) = (i % self.maps_in_a_row, i / self.maps_in_a_row);
        let width = design.mesh.cols() * CELL + AXIS;
        (MARGIN + column * width, self.maps + row * (self.rows * CELL + 2 * LINE))
    }
}
