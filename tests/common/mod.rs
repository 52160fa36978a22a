//! Tests of the cells that any block may use.

mod clock_crossing;
