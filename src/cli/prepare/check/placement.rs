//! Output of `meshkv check --placement`: macro-blocks of each tile, and homes of the first segments of the
//! first layers.

use crate::cli::output::table::{self, size};
use crate::design::{Design, PlacementKind, Spread};
use schemars::JsonSchema;
use serde::Serialize;

/// Layers whose homes are shown: enough to show how one layer follows another.
const LAYERS_SHOWN: u32 = 3;
/// Most columns of text for maps side by side.
const WIDTH: usize = 100;

/// The counts of a placement.
struct Counts {
    blocks: Vec<u32>,
    fullest: u32,
    block_bytes: u64,
    /// Bytes of external memory that a home may fill.
    share_bytes: f64,
}

impl Counts {
    fn of(design: &Design) -> Counts {
        let (placement, memory) = (&design.placement, &design.memory);
        let blocks = placement.blocks();
        Counts {
            fullest: blocks.iter().copied().max().unwrap_or(0),
            blocks,
            block_bytes: u64::from(placement.slices_of_block()) * memory.slice_bytes,
            share_bytes: memory.capacity_gib * f64::from(1 << 30) / f64::from(placement.homes()),
        }
    }

    fn fullest_bytes(&self) -> u64 {
        u64::from(self.fullest) * self.block_bytes
    }
}

fn layers_shown(design: &Design) -> std::ops::Range<u32> {
    0..design.placement.layers.min(LAYERS_SHOWN)
}

/// Macro-blocks and their homes. Arrays of tiles are in the order of their index `y * cols + x`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlacementOutput {
    /// Rule of the placement.
    kind: PlacementKind,
    /// Unit that has a home of its own: a macro-block, or a slice. The counts below are of these units.
    spread: Spread,
    /// Its stride a, of `takv`.
    a: u32,
    /// Its stride of columns, of `takv`.
    column_stride: u32,
    /// Column and row of the hub; null without one.
    hub: Option<(u32, u32)>,
    /// Layers of the model.
    layers: u32,
    /// Segments of a layer at the longest context.
    segments: u32,
    /// Macro-blocks of a tile if all have as many.
    n_max: u32,
    /// Macro-blocks of the fullest tile.
    fullest: u32,
    /// Bytes of one of them in external memory.
    block_bytes: u64,
    /// Bytes of the macro-blocks of the fullest tile.
    fullest_bytes: u64,
    /// Bytes of external memory that a home may fill.
    share_bytes: u64,
    /// Macro-blocks of each tile.
    blocks: Vec<u32>,
    /// Homes of the first layers.
    homes: Vec<LayerHomes>,
}

/// Homes of a layer.
#[derive(Debug, Serialize, JsonSchema)]
struct LayerHomes {
    /// Number of the layer.
    layer: u32,
    /// First segment of the layer that lives on each tile; null where none does.
    first_segment: Vec<Option<u32>>,
}

/// The placement as JSON has it.
pub(super) fn output(design: &Design) -> PlacementOutput {
    let (placement, counts) = (&design.placement, Counts::of(design));
    let homes = layers_shown(design)
        .map(|layer| LayerHomes { layer, first_segment: placement.first_segments(layer) });
    PlacementOutput {
        kind: placement.kind,
        spread: placement.spread,
        a: placement.a,
        column_stride: placement.column_stride,
        hub: (placement.kind == PlacementKind::Hub).then(|| design.mesh.coords(placement.hub)),
        layers: placement.layers,
        segments: placement.segments,
        n_max: design.blocks_per_tile,
        fullest: counts.fullest,
        block_bytes: counts.block_bytes,
        fullest_bytes: counts.fullest_bytes(),
        share_bytes: counts.share_bytes as u64,
        blocks: counts.blocks,
        homes: homes.collect(),
    }
}

/// The same as maps with north at the top.
pub fn prose(design: &Design) -> String {
    let (placement, counts) = (&design.placement, Counts::of(design));
    let name = placement.block_name();
    let number = |n: u64, doc: String| vec![n.to_string(), doc];
    let facts = [
        number(placement.segments.into(), format!("segments in each of {} layers", placement.layers)),
        number(design.blocks_per_tile.into(), format!("{name} a tile if all have as many (N_max)")),
        number(
            counts.fullest.into(),
            format!(
                "{name} on the fullest tile, {} in a share of {} of external memory",
                size(counts.fullest_bytes() as f64),
                size(counts.share_bytes)
            ),
        ),
    ];
    let blocks: Vec<_> = counts.blocks.iter().map(|&n| Some(n)).collect();
    let firsts: Vec<_> = layers_shown(design)
        .map(|layer| map(design, &format!("layer {layer}"), &placement.first_segments(layer)))
        .collect();
    format!(
        "\nPlacement {}:\n{}\n{}The first segment of a layer that lives on each tile (. where none does):\n\n{}",
        placement.rule(),
        table::columns(&facts),
        beside(&[map(design, &format!("{name} a tile"), &blocks)]),
        beside(&firsts)
    )
}

/// Lines of a map of the mesh: a title, the rows from the north on, the numbers of the columns.
fn map(design: &Design, title: &str, values: &[Option<u32>]) -> Vec<String> {
    let mesh = design.mesh;
    let cell = |value: &Option<u32>| value.map_or(".".to_owned(), |n| n.to_string());
    let width = values.iter().map(|v| cell(v).len()).max().unwrap_or(1).max(2);
    let line = |name: String, cells: Vec<String>| {
        let cells: String = cells.iter().map(|c| format!(" {c:>width$}")).collect();
        format!("{name:>6} {cells}")
    };
    let columns = mesh.cols() as usize;
    let rows = values.chunks(columns).enumerate().rev();
    let rows = rows.map(|(y, row)| line(format!("y = {y}"), row.iter().map(cell).collect()));
    let axis = line("x =".to_owned(), (0..columns).map(|x| x.to_string()).collect());
    std::iter::once(format!("{:>6}  {title}", "")).chain(rows).chain([axis]).collect()
}

/// Maps side by side, as many as the width allows, then below one another.
fn beside(maps: &[Vec<String>]) -> String {
    let width = maps.iter().flatten().map(String::len).max().unwrap_or(1) + 2;
    let mut text = String::new();
    for group in maps.chunks((WIDTH / width).max(1)) {
        for line in 0..group[0].len() {
            let cells: String = group.iter().map(|map| format!("{:<width$}", map[line])).collect();
            text += cells.trim_end();
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::cli::prepare::check::placement::*;
    use crate::config::Config;
    use serde_json::json;

    fn design(change: impl Fn(&mut Config)) -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (3, 2);
        (config.model.layers, config.model.heads, config.model.kv_heads) = (6, 6, 3);
        config.model.max_tokens = 64 * 32;
        change(&mut config);
        Design::from_config("tiny", &config).unwrap()
    }

    #[test]
    fn the_papers_placement_keeps_a_layer_in_a_column_with_north_at_the_top() {
        let text = prose(&design(|_| {}));
        let maps = "
        layer 0           layer 1           layer 2
 y = 1   1  .  .   y = 1   .  0  .   y = 1   .  .  1
 y = 0   0  .  .   y = 0   .  1  .   y = 0   .  .  0
   x =   0  1  2     x =   0  1  2     x =   0  1  2
";
        assert!(text.contains(maps), "{text}");
        assert!(text.contains("Placement takv, a = 1, column_stride = 0:"), "{text}");
        assert!(text.contains(" y = 1  32 32 32\n"), "{text}");
    }

    #[test]
    fn a_hub_has_everything_and_all_memory() {
        let design = design(|c| {
            (c.takv.placement, c.takv.hub_x) = (PlacementKind::Hub, 1);
        });
        let value = serde_json::to_value(output(&design)).unwrap();
        assert_eq!(value["blocks"], json!([0, 192, 0, 0, 0, 0]));
        assert_eq!((&value["hub"], &value["fullest"]), (&json!([1, 0]), &json!(192)));
        assert_eq!(value["share_bytes"], json!(40_u64 << 30));
        assert_eq!(
            value["homes"][2],
            json!({ "layer": 2, "first_segment": [null, 0, null, null, null, null] })
        );
        assert!(prose(&design).contains("Placement hub at tile (1, 0):"));
    }

    #[test]
    fn maps_that_are_too_wide_stand_below_one_another() {
        let wide = design(|c| (c.mesh.cols, c.mesh.rows, c.takv.column_stride) = (16, 16, 1));
        let text = prose(&wide);
        assert!(text.lines().all(|line| line.len() <= WIDTH + 10), "{text}");
        assert_eq!(text.matches("y = 15").count(), 4);
    }
}
