//! Tests of the converters between the top's AXI4 ports and HBM.

mod axi3;
