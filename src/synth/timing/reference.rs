//! A measured reference: modules of an old version, timed by the same model.
//!
//! It is printed beside each estimate. A change of a delay makes the reference stale, and a test says so: a
//! better period is one of the design, not of a constant.

/// A module of version 12ef5b8 of `configs/u280_8x8.toml`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// Its name.
    pub module: &'static str,
    /// The worst path between its registers, in nanoseconds.
    pub ns: f64,
    /// The most levels of any path between its registers.
    pub levels: u32,
}

/// Version of the reference.
pub const REFERENCE_VERSION: &str = "12ef5b8";

/// Measured with `scripts/time_version.sh 12ef5b8`.
pub const REFERENCE: [Reference; 2] = [
    Reference { module: "meshkv_router", ns: 6.643, levels: 13 },
    Reference { module: "meshkv_home_agent", ns: 6.658, levels: 14 },
];

#[cfg(test)]
mod tests {
    use crate::synth::timing::library::delays;

    #[test]
    fn the_reference_was_measured_with_these_delays() {
        // The sum of all delays at that time; measure again and write both if it is another.
        let now = delays::sum();
        assert!((now - 31.330).abs() < 1e-6, "{now}: run scripts/time_version.sh and update REFERENCE");
    }
}
