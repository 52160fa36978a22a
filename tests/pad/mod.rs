//! Tests of PaD: the arrays of a tile.

mod dsp_slice;
mod lockstep;
mod row;
