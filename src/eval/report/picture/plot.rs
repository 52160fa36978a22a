//! Contents of one picture.

use crate::eval::report::group::Group;

/// Contents of one picture.
pub(in crate::eval::report) struct Plot<'a> {
    pub title: String,
    pub subtitle: String,
    pub x: &'a str,
    pub x_name: String,
    pub y_name: String,
    /// Index of the metric.
    pub at: usize,
    pub groups: &'a [Group],
    /// Label values of each series, and its name in the legend.
    pub series: Vec<Vec<String>>,
    pub names: Vec<String>,
    /// True for a latency, whose values beyond saturation are left out.
    pub is_latency: bool,
}
