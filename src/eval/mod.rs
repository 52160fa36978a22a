//! Metrics, sweeps and pictures.
//!
//! [`measure()`] makes one [`Row`] of a run. [`sweep()`] makes as many as it needs to find
//! saturation. [`latency_plot`] and [`heatmap()`] draw them; [`placement_picture`] draws the
//! placement of macro-blocks. [`grid`] makes points of a sweep file, and plain rows of their runs.
//! [`report`] makes pictures and a page of such rows. Nothing here touches the disk.

mod attention;
mod bounds;
mod decode;
mod decode_row;
mod energy;
pub mod grid;
mod heatmap;
mod measure;
pub mod paper;
mod placement;
mod plot;
mod png;
pub mod report;
mod row;
mod soak;
mod spread;
mod sweep;
mod timeline;

pub use attention::{AttentionRow, Stages};
pub use bounds::Phase;
pub use decode::link_row;
pub use decode_row::{DecodeRow, Flits, Platform, Sample, StepRow, WholeStep};
pub use energy::{Activity, Energies, Energy, EnergyError, EnergyTable, Tier, DEFAULT_TIER};
pub use heatmap::heatmap;
pub use measure::{measure, replay, zero_load_latency, MeasureError, Setup, HARDLY_ANY};
pub use placement::placement_picture;
pub use plot::{latency_plot, NOT_SHOWN_ABOVE};
pub use png::{svg_to_png, PngError};
pub use row::{LinkRow, Row};
pub use soak::{take as soak_take, SoakCase, SoakFabric, SoakRun};
pub use spread::Spread;
pub use sweep::{sweep, Sweep, RESOLUTION, SATURATED_AT};
pub use timeline::timeline;
