//! What the fabric must do: the numbers of PaD in every bit, and, in [`cycle`], what moves when.
//!
//! [`Datapath`] is made of a head's and a flit's size. A [`Partial`] takes the K and V flits of a tile's segments
//! as the Verilog does, a [`Root`] merges the PART packets of the tiles and gives the output in FP16; all that lies between
//! can be read on the way. [`attend`] is the whole of it. [`mod@reference`] has what the result is measured against,
//! [`tensors`] the inputs. Formats, error analysis and figures are in `docs/pad_numbers.md`.
//!
//! No number depends on cycles: the datapath knows none.

pub mod cycle;
pub mod datapath;

pub use datapath::{
    attend, attention, dot, exp2, fixed, formats, fp16, layout, normalise, part, reference, root, softmax,
    split, tensors, Datapath, DatapathShape, Dot, Exp2, Formats, Lane, Packet, Partial, Query, Reciprocal,
    Root, Scale, Split, Weight,
};
