//! Checks of a run: every flit once, intact and in order, and two fabrics that show the same.

pub mod lockstep;
pub mod scoreboard;
pub mod violation;
