//! Checks of a run: the scoreboard finds lost, changed and reordered flits; lockstep compares two
//! fabrics.

pub mod lockstep;
pub mod scoreboard;
pub mod violation;
