//! Clocks of a module, for its constraints.

use serde::Serialize;

/// A clock of a module: its name in the constraints, its port, its period in nanoseconds, and whose it is.
#[derive(Serialize)]
pub(super) struct Clock {
    pub(super) name: &'static str,
    pub(super) port: &'static str,
    pub(super) period: String,
    pub(super) doc: &'static str,
}

/// Nanoseconds of a period, rounded down to a picosecond.
pub(super) fn period(mhz: f64) -> String {
    format!("{:.3}", (1e6 / mhz).floor() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_never_longer_than_the_clock_asks_for() {
        assert_eq!(period(250.0), "4.000");
        assert_eq!(period(300.0), "3.333");
    }
}
