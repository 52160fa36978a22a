//! Rules of placement: the mesh must have the homes, and they must hold their macro-blocks.

use crate::config::{Advice, Config, Finding};
use crate::design::card::memory::slice_bytes;
use crate::design::network::mesh::Mesh;
use crate::design::takv::placement::{default_stride, gcd, legal_stride, Placement, PlacementKind, Spread};
use serde_json::Value;

const GIB: f64 = (1_u64 << 30) as f64;
/// Largest legal `memory.capacity_gib`, the bound of any advice.
const MOST_GIB: f64 = 256.0;

const COLUMN_STRIDE: &str = "takv.column_stride";
const SPREAD: &str = "takv.spread";

pub(super) fn stride_visits_every_row(config: &Config) -> Option<Finding> {
    let (a, rows) = (config.takv.a?, config.mesh.rows);
    if legal_stride(a, rows) {
        return None;
    }
    let fault = match gcd(a, rows) {
        _ if a % 2 == 0 => "is even".to_owned(),
        shared => format!("is not coprime to mesh.rows = {rows}: {shared} divides both"),
    };
    let help = "an odd stride coprime to the rows takes the segments of a layer to every row";
    // The generator's own default stride is the safest advice.
    let ways = [Advice::set("takv.a", default_stride(config.mesh.cols, rows)), Advice::leave_out("takv.a")];
    Some(Finding::value("takv.a", a, fault, help).advising(ways).with(&["mesh.rows", "mesh.cols"]))
}

pub(super) fn columns_have_room_for_the_stride(config: &Config) -> Option<Finding> {
    let (stride, cols) = (config.takv.column_stride, config.mesh.cols);
    (stride >= cols).then(|| {
        Finding::value(
            "takv.column_stride",
            stride,
            format!("is not below mesh.cols = {cols}"),
            format!("columns wrap around, so {stride} acts as {}", stride % cols),
        )
        .advising([Advice::set("takv.column_stride", stride % cols), Advice::leave_out("takv.column_stride")])
        .with(&["mesh.cols"])
    })
}

pub(super) fn hub_is_in_a_column(config: &Config) -> Option<Finding> {
    hub_is_inside("hub_x", config.takv.hub_x, "mesh.cols", config.mesh.cols)
}

pub(super) fn hub_is_in_a_row(config: &Config) -> Option<Finding> {
    hub_is_inside("hub_y", config.takv.hub_y, "mesh.rows", config.mesh.rows)
}

/// Applies to every placement: otherwise a hub outside the mesh would go unnoticed until it is used.
fn hub_is_inside(name: &str, value: u32, side: &'static str, tiles: u32) -> Option<Finding> {
    (value >= tiles).then(|| {
        let fault = format!("is not below {side} = {tiles}");
        let help = "the hub is a tile of the mesh, counted from 0 at the south-west";
        let key = format!("takv.{name}");
        let ways = [Advice::set(&key, tiles - 1), Advice::leave_out(&key)];
        Finding::value(&key, value, fault, help).advising(ways).with(&[side])
    })
}

/// Each column must compute as many KV heads: their slices live there, and homes are as large.
pub(super) fn slices_have_columns(config: &Config) -> Option<Finding> {
    if config.takv.spread != Spread::Slice {
        return None;
    }
    let (kv_heads, cols) = (config.model.kv_heads, config.mesh.cols);
    let (fault, help, with) = if config.takv.placement != PlacementKind::Takv {
        let fault =
            "gives each slice a home by the affine placement, and takv.placement is another".to_owned();
        (fault, "a hub has all homes, and numbers name whole segments", &["takv.placement"][..])
    } else if !kv_heads.is_multiple_of(cols) {
        let fault = format!(
            "needs columns that compute as many KV heads each, and model.kv_heads = {kv_heads} is no multiple of mesh.cols = \
             {cols}"
        );
        let help = "a slice lives in the column that computes its KV head";
        (fault, help, &["model.kv_heads", "model.heads", "mesh.cols"][..])
    } else {
        return None;
    };
    let ways = [Advice::set(SPREAD, "segment"), Advice::leave_out(SPREAD)];
    Some(Finding::value(SPREAD, "slice", fault, help).advising(ways).with(with))
}

/// Homes are exchanged because of their traffic. A home in the column of its KV head has none.
pub(super) fn slices_are_not_swapped(config: &Config) -> Option<Finding> {
    let epoch = config.takv.swap_epoch.filter(|_| config.takv.spread == Spread::Slice)?;
    (epoch > 0).then(|| {
        let fault = "swaps homes, and takv.spread = \"slice\" leaves nothing to swap";
        let help = "a home feeds its own tile, so no home is busier than another";
        let ways = [Advice::leave_out("takv.swap_epoch"), Advice::set("takv.swap_epoch", 0)];
        Finding::value("takv.swap_epoch", epoch, fault, help).advising(ways).with(&[SPREAD])
    })
}

/// The placement of a configuration; none while the mesh, the stride or the spread is illegal.
pub(super) fn placement(config: &Config) -> Option<Placement> {
    let (cols, rows) = (config.mesh.cols, config.mesh.rows);
    let legal = config.takv.column_stride < cols
        && config.takv.a.is_none_or(|a| legal_stride(a, rows))
        && slices_have_columns(config).is_none();
    Placement::new(config, Mesh::new(cols, rows)).filter(|_| legal)
}

fn fullest(placement: &Placement) -> u64 {
    placement.blocks().into_iter().max().unwrap_or(0).into()
}

/// Macro-blocks of a tile if all tiles have as many (N_max of the paper).
fn even_share(placement: &Placement) -> u64 {
    placement.all_blocks().div_ceil(u64::from(placement.cols * placement.rows))
}

/// Bytes of the macro-blocks of the fullest home.
fn bytes_of_a_home(config: &Config, placement: &Placement) -> f64 {
    (fullest(placement) * u64::from(placement.slices_of_block()) * slice_bytes(config)) as f64
}

/// One cache of the longest context must fit. Several streams share it, or are shorter.
pub(super) fn cache_fits_the_memory(config: &Config) -> Option<Finding> {
    let placement = placement(config).map(|placement| placement.of_segments(placement.segments))?;
    let (capacity, tokens) = (config.memory.capacity_gib, config.model.max_tokens);
    let (bytes, share) = (bytes_of_a_home(config, &placement), capacity * GIB / f64::from(placement.homes()));
    if bytes <= share {
        return None;
    }
    let fits = |segments| bytes_of_a_home(config, &placement.of_segments(segments)) <= share;
    // More segments never take less, so bisection finds the most that fit.
    let (mut fitting, mut too_many) = (0, placement.segments);
    while too_many - fitting > 1 {
        let middle = fitting + (too_many - fitting) / 2;
        *(if fits(middle) { &mut fitting } else { &mut too_many }) = middle;
    }
    let enough = (bytes * f64::from(placement.homes()) / GIB).ceil();
    let shorter = (fitting > 0).then(|| Advice::set("model.max_tokens", fitting * config.kv.segment_tokens));
    let larger = (enough <= MOST_GIB).then(|| Advice::set("memory.capacity_gib", enough));
    // Where neither is enough alone, a shorter context in the largest memory is.
    let largest = MOST_GIB * GIB / f64::from(placement.homes());
    let most = |segments| bytes_of_a_home(config, &placement.of_segments(segments)) <= largest;
    let halved = std::iter::successors(Some(placement.segments / 2), |n| Some(n / 2));
    let halved = halved.take_while(|n| *n > 0).find(|&segments| most(segments));
    let both = halved.filter(|_| shorter.is_none() && larger.is_none()).map(|segments| {
        let tokens = segments * config.kv.segment_tokens;
        Advice::set("model.max_tokens", tokens).and("memory.capacity_gib", MOST_GIB)
    });
    let fewer = fewer(config, &|fewer| {
        self::placement(fewer).is_some_and(|placement| bytes_of_a_home(fewer, &placement) <= share)
    });
    let ways = shorter.into_iter().chain(larger).chain(both).chain(fewer);
    let bytes = size(bytes);
    let fault = match placement.kind {
        PlacementKind::Hub => {
            format!("gives the hub {bytes} of macro-blocks, more than memory.capacity_gib = {capacity}")
        }
        PlacementKind::Takv | PlacementKind::RoundRobin => format!(
            "gives the fullest tile {bytes} of macro-blocks, more than its share of {} in memory.capacity_gib = {capacity}",
            size(share)
        ),
    };
    let help = "external memory must hold one cache of the longest context";
    let involved = [
        "memory.capacity_gib",
        "takv.placement",
        "takv.spread",
        "takv.column_stride",
        "model.layers",
        "model.kv_heads",
        "kv.segment_tokens",
        "pe.head_dim",
        "mesh.cols",
        "mesh.rows",
        // KV heads are as many unless they are given.
        "model.heads",
    ];
    Some(Finding::value("model.max_tokens", tokens, fault, help).advising(ways).with(&involved))
}

/// Only a warning: an uneven placement works, and small models on small meshes have no even one.
pub(super) fn blocks_are_spread_evenly(config: &Config) -> Option<Finding> {
    let placement =
        placement(config).filter(|p| p.kind == PlacementKind::Takv && !p.by_slice() && !p.pages)?;
    let (most, even) = (fullest(&placement), even_share(&placement));
    if most <= even {
        return None;
    }
    let with = |column_stride| fullest(&Placement { column_stride, ..placement });
    // The smallest of equally even strides.
    let best = (0..placement.cols).min_by_key(|&stride| with(stride)).filter(|&stride| with(stride) < most);
    let segments = placement.segments.next_multiple_of(placement.rows);
    let whole = placement.of_segments(segments);
    // Whole rounds over the rows.
    let rounds = (fullest(&whole) == even_share(&whole))
        .then(|| Advice::set("model.max_tokens", segments * config.kv.segment_tokens));
    let best = best.filter(|&stride| with(stride) == even).map(|stride| Advice::set(COLUMN_STRIDE, stride));
    let round_robin = Advice::set("takv.placement", "round_robin").and(COLUMN_STRIDE, Value::Null);
    let ways = best.into_iter().chain(rounds).chain([round_robin.and("takv.a", Value::Null)]);
    let fault = format!("gives the fullest tile {most} macro-blocks, more than an even {even} (N_max)");
    let help = "the fullest home needs the most memory and sends the longest";
    let involved =
        ["model.layers", "mesh.cols", "mesh.rows", "model.max_tokens", "kv.segment_tokens", "takv.placement"];
    let stride = placement.column_stride;
    Some(Finding::value(COLUMN_STRIDE, stride, fault, help).advising(ways).with(&involved).as_warning())
}

/// Ways to a smaller cache: fewer layers, or fewer KV heads.
pub(super) fn fewer(config: &Config, fits: &dyn Fn(&Config) -> bool) -> Vec<Advice> {
    let model = &config.model;
    let with = |layers, kv_heads| {
        let mut fewer = config.clone();
        (fewer.model.layers, fewer.model.kv_heads) = (layers, kv_heads);
        fewer
    };
    let halves = |from: u32| std::iter::successors(Some(from / 2), |n| Some(n / 2)).take_while(|n| *n > 0);
    let layers = halves(model.layers).find(|&layers| fits(&with(layers, model.kv_heads)));
    let kv_heads = halves(model.kv_heads)
        .filter(|kv_heads| model.heads.is_multiple_of(*kv_heads))
        .find(|&kv_heads| fits(&with(model.layers, kv_heads)));
    let layers = layers.map(|layers| Advice::set("model.layers", layers));
    let kv_heads = kv_heads.map(|kv_heads| Advice::set("model.kv_heads", kv_heads));
    layers.into_iter().chain(kv_heads).collect()
}

/// Bytes in readable units.
pub(super) fn size(bytes: f64) -> String {
    if bytes < GIB {
        format!("{:.2} MiB", bytes * 1024.0 / GIB)
    } else {
        format!("{:.2} GiB", bytes / GIB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Severity;

    fn config(kind: PlacementKind, change: impl Fn(&mut Config)) -> Config {
        let mut config = Config::default();
        config.takv.placement = kind;
        change(&mut config);
        config
    }

    /// 32 layers of 512 segments of 32 KV heads: 16 GiB.
    #[test]
    fn memory_is_enough_to_the_last_byte_and_no_further() {
        for kind in [PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub] {
            let with = |gib| cache_fits_the_memory(&config(kind, |c| c.memory.capacity_gib = gib));
            assert_eq!((with(16.0), with(15.999).is_some()), (None, true), "{kind:?}");
        }
    }

    #[test]
    fn advice_on_capacity_is_legal_and_the_least() {
        for kind in [PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub] {
            for layers in [32, 33, 70] {
                let of = |tokens| {
                    cache_fits_the_memory(&config(kind, |c| {
                        (c.model.layers, c.model.max_tokens) = (layers, tokens);
                    }))
                };
                let ways = of(1 << 20).unwrap().advice;
                let tokens = ways.iter().flat_map(|way| &way.set).find(|set| set.key == "model.max_tokens");
                let advised = tokens.unwrap().value.as_u64().unwrap() as u32;
                assert_eq!((of(advised), of(advised + 1).is_some()), (None, true), "{ways:?}");
            }
        }
    }

    #[test]
    fn a_cache_beyond_counting_is_refused_too() {
        for kind in [PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub] {
            let found = cache_fits_the_memory(&config(kind, |c| {
                (c.model.layers, c.model.max_tokens, c.kv.segment_tokens) = (1024, 4_194_304, 1);
                (c.memory.capacity_gib, c.model.kv_heads, c.pe.head_dim) = (MOST_GIB, 1, 32);
            }));
            assert!(found.is_some(), "{kind:?}");
        }
    }

    #[test]
    fn only_an_uneven_takv_placement_is_warned_of_and_the_advice_helps() {
        let layers = |kind, stride, layers| {
            blocks_are_spread_evenly(&config(kind, |c| {
                (c.takv.column_stride, c.model.layers) = (stride, layers);
            }))
        };
        assert_eq!(layers(PlacementKind::Takv, 0, 32), None);
        let found = layers(PlacementKind::Takv, 0, 30).unwrap();
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.help_text().contains("; try column_stride = 1, or "), "{found:?}");
        assert_eq!(layers(PlacementKind::Takv, 1, 30), None);
        for kind in [PlacementKind::RoundRobin, PlacementKind::Hub] {
            assert_eq!(layers(kind, 0, 30), None);
        }
    }

    #[test]
    fn both_coordinates_of_a_hub_outside_are_told() {
        let config = config(PlacementKind::Takv, |c| (c.takv.hub_x, c.takv.hub_y) = (8, 9));
        let found = [hub_is_in_a_column(&config), hub_is_in_a_row(&config)].map(|f| f.unwrap().key);
        assert_eq!(found, ["takv.hub_x", "takv.hub_y"]);
        // Rules that depend on the place of the hub are skipped.
        assert_eq!(cache_fits_the_memory(&config), None);
    }
}
