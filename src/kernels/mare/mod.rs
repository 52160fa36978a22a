//! Decisions of the homes of slices (MaRe).

pub mod coalescing_window;
