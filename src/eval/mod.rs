//! Metrics, sweeps and pictures.
//!
//! [`measure()`] makes one [`Row`] of a run. [`sweep()`] makes as many as it needs to find
//! saturation. [`latency_plot`], [`heatmap()`], [`distribution()`] and [`link_time()`] draw them; [`placement_picture`] draws the
//! placement of macro-blocks. [`grid`] makes points of a sweep file, and plain rows of their runs.
//! [`report`] makes pictures and a page of such rows. [`scale`] spreads a model over cards. Only the
//! folder of a sweep touches the disk.

mod charts;
mod energy;
pub mod grid;
pub mod mutate;
pub mod paper;
pub mod report;
mod rows;
pub mod scale;
mod soak;
pub mod sweep;
mod time;

pub use charts::accepted_plot::accepted_plot;
pub use charts::batching_plot::batching_plots;
pub use charts::distribution::distribution;
pub use charts::heatmap::heatmap;
pub use charts::link_time::link_time;
pub use charts::placement::placement_picture;
pub use charts::plot::{latency_plot, NOT_SHOWN_ABOVE};
pub use charts::png::{svg_to_png, PngError};
pub use charts::steps_plot::steps_plot;
pub use charts::timeline::timeline;
pub use energy::{Activity, Energies, Energy, EnergyError, EnergyTable, Tier, DEFAULT_TIER};
pub use rows::attention::{AttentionRow, Stages};
pub use rows::decode::link_row;
pub use rows::decode_row::{DecodeRow, Flits, Platform, Sample, StepRow, WholeStep};
pub use rows::measure::{measure, replay, zero_load_latency, MeasureError, Setup, HARDLY_ANY};
pub use rows::packets::{packets_to_csv, packets_to_parquet};
pub use rows::partials::{PartRow, PartialsRow};
pub use rows::row::{LinkRow, LinkTimes, Row};
pub use rows::spread::Spread;
pub use rows::steps::batching::{BatchStep, BatchingLog, BatchingRow, Values};
pub use rows::steps::{OneStep, Quantiles, StepsLog, StepsRow};
pub use rows::widths::WidthsError;
pub use soak::drawn_run::DrawnRun;
pub use soak::drawn_step::{DrawnStep, Found};
pub use soak::{
    take as soak_take, SoakCase, SoakDevice, SoakFabric, SoakRun, SoakStorm, BEYOND as BEYOND_SOAK,
    BY_DEVICES as SOAKED_BY_DEVICES,
};
pub use sweep::saturation::{sweep, Sweep, RESOLUTION, SATURATED_AT};
pub use time::bounds::Phase;
pub use time::breakdown::Part;
