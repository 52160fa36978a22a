//! Model of the fabric: PaD's arithmetic in every bit ([`datapath`]), and the timing of every cycle
//! ([`cycle`]).
//!
//! [`Datapath`] is made from the size of a head and of a flit. A [`Partial`] takes the K and V flits of a
//! tile's segments as the Verilog does. A [`Root`] merges the PART packets of the tiles and returns the
//! output in FP16. All values in between can be read. [`attend`] runs the whole computation.
//! [`datapath::reference`] computes what results are measured against, and [`datapath::tensors`] supplies inputs. Formats,
//! error analysis and figures are in `docs/numbers.md`.
//!
//! No value depends on cycles: the datapath has none.

pub mod cycle;
pub mod datapath;

pub use datapath::{
    align, attend, attend_scaled, dot, split, Aligned, Datapath, DatapathShape, Dot, Exp2, Formats,
    HeadScales, Lane, Packet, Partial, Query, Reciprocal, Root, Scale, Split, State, Vector, Weight,
};
