//! Metrics, sweeps and pictures.
//!
//! [`measure()`] makes one [`Row`] of a run. [`sweep()`] makes as many as it needs to find
//! saturation. [`latency_plot`], [`heatmap()`], [`distribution()`] and [`link_time()`] draw them; [`placement_picture`] draws the
//! placement of macro-blocks. [`grid`] makes points of a sweep file, and plain rows of their runs.
//! [`report`] makes pictures and a page of such rows. [`scale`] spreads a model over cards. Nothing here
//! touches the disk.

mod accepted_plot;
mod attention;
mod bounds;
mod breakdown;
mod compared;
mod decode;
mod decode_row;
mod distribution;
mod drawn_run;
mod drawn_step;
mod energy;
pub mod grid;
mod heatmap;
mod link_time;
mod measure;
mod packets;
pub mod paper;
mod partials;
mod placement;
mod plot;
mod png;
pub mod report;
mod row;
pub mod scale;
mod soak;
mod spread;
mod steps;
mod steps_plot;
mod sweep;
mod timeline;

pub use accepted_plot::accepted_plot;
pub use attention::{AttentionRow, Stages};
pub use bounds::Phase;
pub use breakdown::Part;
pub use decode::link_row;
pub use decode_row::{DecodeRow, Flits, Platform, Sample, StepRow, WholeStep};
pub use distribution::distribution;
pub use drawn_run::DrawnRun;
pub use drawn_step::{DrawnStep, Found};
pub use energy::{Activity, Energies, Energy, EnergyError, EnergyTable, Tier, DEFAULT_TIER};
pub use heatmap::heatmap;
pub use link_time::link_time;
pub use measure::{measure, replay, zero_load_latency, MeasureError, Setup, HARDLY_ANY};
pub use packets::{packets_to_csv, packets_to_parquet};
pub use partials::{PartRow, PartialsRow};
pub use placement::placement_picture;
pub use plot::{latency_plot, NOT_SHOWN_ABOVE};
pub use png::{svg_to_png, PngError};
pub use row::{LinkRow, LinkTimes, Row};
pub use soak::{take as soak_take, SoakCase, SoakFabric, SoakRun};
pub use spread::Spread;
pub use steps::{OneStep, Quantiles, StepsLog, StepsRow};
pub use steps_plot::steps_plot;
pub use sweep::{sweep, Sweep, RESOLUTION, SATURATED_AT};
pub use timeline::timeline;
