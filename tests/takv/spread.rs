//! Homes by slice (`takv.spread = "slice"`): every flit reaches its tiles and attention has the model's bits, under every
//! mapping and sharing, in lockstep with the model; and rows without a segment of a head send no partial result.

use crate::support::attention::{assert_exact, attend, lockstep, small as array, tensors, Trouble};
use crate::support::decode::{plan, run_clean, sized, whole_library, LOAD, MAPPINGS, SHARINGS};
use crate::support::verilated::emitted;
use meshkv::config::{Config, Spread};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::decode::{Plan, Workload};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::model::datapath::tensors::Logits;

/// Slices have homes of their own, and nothing is swapped.
fn by_slice(config: &mut Config) {
    (config.takv.spread, config.takv.swap_epoch) = (Spread::Slice, None);
}

/// Columns, rows, heads and KV heads: one KV head a column and more, as many as rows, rows no power of two, groups.
const SHAPES: [(u32, u32, u32, u32); 5] =
    [(3, 2, 6, 3), (2, 3, 8, 4), (4, 2, 8, 8), (2, 4, 12, 6), (2, 5, 4, 2)];

fn shaped((cols, rows, heads, kv_heads): (u32, u32, u32, u32)) -> Design {
    sized(cols, rows, |c| {
        (c.model.heads, c.model.kv_heads) = (heads, kv_heads);
        by_slice(c);
    })
}

#[test]
fn slices_in_their_own_columns_serve_every_mapping_and_sharing() {
    for shape in SHAPES {
        let design = shaped(shape);
        let library = whole_library(&design);
        for (at, mapping) in MAPPINGS.into_iter().enumerate() {
            for (_, sharing) in SHARINGS.into_iter().enumerate().filter(|(i, _)| at == 1 || (i + at) % 2 == 0)
            {
                let load = Workload { tokens: 53, batch: 2, prefix: 24, layers: 2, mapping, sharing, ..LOAD };
                run_clean(
                    &library,
                    &design,
                    &plan(&design, &load),
                    &format!("{shape:?} {mapping:?} {sharing:?}"),
                );
            }
        }
    }
}

#[test]
fn descriptors_of_a_stream_may_have_different_mappings() {
    let design = shaped((2, 3, 8, 4));
    let library = whole_library(&design);
    for (at, of_prefix) in MAPPINGS.into_iter().enumerate() {
        for of_streams in MAPPINGS {
            let sharing = SHARINGS[at % 2];
            let load = Workload { tokens: 53, batch: 2, prefix: 24, mapping: of_streams, sharing, ..LOAD };
            // A stream that was closed has no rows: the next step begins anew.
            let mut plan = Plan { steps: 2, ..plan(&design, &load) };
            plan.descriptors.iter_mut().filter(|d| d.streams == 2).for_each(|d| d.mapping = of_prefix);
            run_clean(&library, &design, &plan, &format!("{of_prefix:?}, then {of_streams:?}"));
        }
    }
}

/// One segment: one row has a result of each head. As many as rows: all have.
#[test]
fn only_rows_with_a_segment_send_a_partial_result() {
    let design = shaped((2, 4, 12, 6));
    let library = whole_library(&design);
    for segments in [1, 2, 3, 4, 9] {
        let load = Workload { tokens: 8 * segments, mapping: Mapping::RowAligned, ..LOAD };
        let done = run_clean(&library, &design, &plan(&design, &load), &format!("{segments} segments"));
        assert_eq!(done.packets, u64::from(12 * segments.min(4)));
        // Keys and values cross no link.
        assert_eq!(done.event("flits_taken"), done.event("flits_kept"), "{segments} segments");
    }
}

#[test]
fn attention_has_the_models_bits() {
    for change in [
        |c: &mut Config| by_slice(c),
        |c: &mut Config| {
            by_slice(c);
            (c.mesh.cols, c.mesh.rows) = (2, 3);
            (c.model.heads, c.model.kv_heads) = (8, 4);
        },
    ] {
        let design = array(change);
        for mapping in MAPPINGS {
            for tokens in [61, 3] {
                let tensors = tensors(&design, tokens, 2, Logits::Normal, 5);
                for trouble in [Trouble::default(), Trouble { stall: 200, unruly: true, noise: 77 }] {
                    let done = attend(&design, &tensors, 2, mapping, trouble);
                    assert_exact(&done, &format!("{tokens} tokens, {mapping:?}, {trouble:?}"));
                }
            }
        }
    }
}

#[test]
fn streams_of_different_lengths_attend_to_their_own_caches() {
    let lengths = [17, 1, 256, 8, 9, 64];
    let design = array(|c| {
        by_slice(c);
        c.model.max_streams = 6;
    });
    let tensors = tensors(&design, lengths.iter().sum::<u32>() as usize, 6, Logits::Normal, 5);
    let job = Job::ragged(&design, &tensors, 0, &lengths, Mapping::RowAligned, Sharing::KvHead).unwrap();
    let done = lockstep(&emitted(&design), &job, Trouble::default(), Clocks::IN_STEP).unwrap();
    assert_eq!(done.violations, [""; 0]);
    assert_exact(&done, "ragged");
}
