//! Sweeps: the points of a grid, run with a row each in a folder that survives any end of the process; and loads up to
//! saturation.

pub mod area_row;
mod areas;
pub mod execute;
pub mod fill;
pub mod missing_areas;
pub mod saturation;
pub mod slurm;
pub mod store;
