//! Reduce: packets of partial results, and the reduce root of a column.

mod column_root;
mod element_packer;
mod finisher;
mod part_former;
mod reduce_inlet;

pub use column_root::{Merge, ReduceRoot};
pub use element_packer::ElementPacker;
pub use finisher::{OutFlit, Summed};
pub use part_former::{Pair, PartFormer};
pub use reduce_inlet::ReduceInlet;
