//! Attention on the whole design equals the model of the datapath in every bit.

mod attend;

use attend::{assert_exact, attend, small, tensors, Trouble};
use meshkv::design::Mapping;
use meshkv::model::tensors::Logits;

#[test]
fn every_mapping_gives_the_models_bits() {
    let design = small(|_| {});
    for mapping in [Mapping::RowAligned, Mapping::HeadTile, Mapping::StreamStriped] {
        for tokens in [64, 61, 3, 1] {
            let tensors = tensors(&design, tokens, 2, Logits::Normal, 5);
            for streams in [1, 2] {
                let done = attend(&design, &tensors, streams, mapping, Trouble::default());
                assert_exact(&done, &format!("{mapping:?}, {tokens} tokens, {streams} streams"));
            }
        }
    }
}
