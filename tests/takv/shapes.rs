//! Attention on shapes that nobody chose: meshes of 2 x 2 to 16 x 16, KV heads that are no multiple of the columns, rows that
//! are no power of two. The model's bits come out under both values of `takv.spread`, wherever each is legal.

use crate::support::attention::{assert_exact, small, tensors};
use crate::support::fetch::Random;
use meshkv::config::{Config, Spread};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::memory::Behaviour;
use meshkv::cosim::workloads::attention::{Bench, Job};
use meshkv::design::{check, Design, Mapping, Sharing};
use meshkv::model::datapath::tensors::Logits;

/// Drawn shapes.
const SHAPES: usize = 30;

/// A number of `least..=most`.
fn from(random: &mut Random, least: u32, most: u32) -> u32 {
    least + random.below(u64::from(most - least + 1)) as u32
}

/// A drawn shape; every other one has as many KV heads in each column. Some have more heads than a column takes.
fn shape(seed: u64) -> Config {
    let mut random = Random(seed);
    let mut draw = |least, most| from(&mut random, least, most);
    let mut config = small(|_| {}).configuration().clone();
    (config.mesh.cols, config.mesh.rows) = (draw(2, 16), draw(2, 16));
    config.takv.column_stride = draw(0, 1);
    let even = config.mesh.cols * draw(1, 64 / config.mesh.cols);
    config.model.kv_heads = if seed.is_multiple_of(2) { even } else { draw(1, 64) };
    config.model.heads = config.model.kv_heads << draw(0, 2);
    config.model.max_streams = draw(1, 3);
    config
}

/// Ragged streams on the model of the whole core.
fn attends(design: &Design, seed: u64, what: &str) {
    let mut random = Random(!seed);
    let lengths: Vec<_> = (0..design.model.max_streams).map(|_| from(&mut random, 1, 90)).collect();
    let tensors = tensors(design, lengths.iter().sum::<u32>() as usize, lengths.len(), Logits::Normal, seed);
    let job = Job::ragged(design, &tensors, 0, &lengths, Mapping::RowAligned, Sharing::KvHead).unwrap();
    let bench = Bench::on_model(&job, Behaviour::of(design), Clocks::IN_STEP, true).unwrap();
    assert_exact(&bench.run(0, 0, &mut |_| false).unwrap(), what);
}

#[test]
fn drawn_shapes_have_the_models_bits_under_both_spreads() {
    let mut by_slice = 0;
    let takes = |config: &Config| Design::from_config("drawn", config).is_ok();
    for (seed, config) in (0..).map(|seed| (seed, shape(seed))).filter(|(_, c)| takes(c)).take(SHAPES) {
        let (model, mesh) = (&config.model, &config.mesh);
        let what = format!("{seed}: {} x {}, {} of {}", mesh.cols, mesh.rows, model.heads, model.kv_heads);
        attends(&Design::from_config("drawn", &config).unwrap(), seed, &what);
        let mut sliced = config.clone();
        (sliced.takv.spread, sliced.takv.swap_epoch, sliced.takv.column_stride) = (Spread::Slice, None, 0);
        let legal = model.kv_heads.is_multiple_of(mesh.cols);
        let errors: Vec<_> = check("drawn", &sliced).into_iter().filter(|f| f.key == "takv.spread").collect();
        assert_eq!(errors.is_empty(), legal, "{what}: {errors:?}");
        let Some(design) = legal.then(|| Design::from_config("drawn", &sliced).unwrap()) else { continue };
        by_slice += 1;
        attends(&design, seed, &format!("{what}, by slice"));
        // All tiles have their share of the longest context, to a segment of each KV head.
        let blocks = design.placement.blocks_of_layer(0);
        let [least, most] = [blocks.iter().min(), blocks.iter().max()].map(|n| *n.unwrap());
        assert!(
            most - least <= design.placement.column_kv_heads(),
            "{what}: {least} to {most} slices a tile"
        );
    }
    assert!(by_slice >= SHAPES / 3, "{by_slice}");
}
