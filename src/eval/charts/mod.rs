//! Charts of runs and sweeps.

pub(super) mod accepted_plot;
pub(super) mod batching_plot;
pub(super) mod distribution;
pub(super) mod heatmap;
pub(super) mod link_time;
pub(super) mod placement;
pub(super) mod plot;
pub(super) mod png;
pub(super) mod steps_plot;
pub(super) mod timeline;
