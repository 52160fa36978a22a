//! The content of one picture.

use super::group::Group;

/// What one picture shows.
pub(super) struct Plot<'a> {
    pub title: String,
    pub subtitle: String,
    pub x: &'a str,
    pub x_name: String,
    pub y_name: String,
    /// Which of the metrics.
    pub at: usize,
    pub groups: &'a [Group],
    /// Values of the labels of each series, and as a legend says them.
    pub series: Vec<Vec<String>>,
    pub names: Vec<String>,
    /// Whether it is a latency, of which what is beyond saturation is left out.
    pub is_latency: bool,
}
