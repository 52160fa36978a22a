//! Tests of the datapath model against exact arithmetic and against attention.

mod arithmetic;
mod attention;
mod exact;
mod partials;
mod special;
mod tensors;
