//! The two clocks of the fabric.

use crate::config::Config;

/// Frequencies in MHz.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// Network clock: routers, home agents, requesters, controllers and reduce roots.
    pub noc_mhz: f64,
    /// Clock of the processing elements.
    pub pe_mhz: f64,
}

impl Clock {
    /// The clocks of a configuration.
    pub(in crate::design) fn new(config: &Config) -> Clock {
        Clock { noc_mhz: config.clock.noc_mhz, pe_mhz: config.clock.pe_mhz }
    }
}
