//! Cells that any block may use.

mod clock_crossing;
