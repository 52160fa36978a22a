//! Tests of the converters between the top's AXI4 ports and HBM, and of the files of each card.

mod axi3;
mod cards;
