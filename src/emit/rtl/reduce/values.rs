//! Values of part formers and reduce roots.

use crate::design::Design;
use crate::emit::rtl::reduce::root;
use crate::emit::rtl::spec::values::Values;

/// Bits of a sum below the point, as in the model.
const FRACTION: u32 = 36;

/// Sets the values of the block.
pub(in crate::emit::rtl) fn set(values: &mut Values, design: &Design) {
    let part = |name| design.flit.part.iter().find(|f| f.name == name).map_or(0, |f| f.width);
    let id = part("stream") + part("layer") + part("head");
    let (head_dim, lanes) = (design.pe.head_dim, design.pe.root_lanes);
    values.numbers(&[
        ("part_id_width", id),
        ("part_tag_width", id + 2),
        ("part_head_width", part("head")),
        ("root_lanes", lanes),
        ("finish_lanes", design.pe.finish_lanes),
        ("fraction", FRACTION),
        ("sum_width", root::sum_width(design)),
    ]);
    values.widths(&[
        ("others_width", design.mesh.rows()),
        ("beat_width", head_dim / lanes),
        // A partial result has more flits than an output: l and m, then o in FP32.
        ("out_index_width", 1 + 32 * head_dim / design.flit.data_width),
    ]);
    values.set("root_style", root::style(design));
}
