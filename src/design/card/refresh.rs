//! Refresh of external memory: a channel rests while its banks are refreshed.

use crate::config::Config;

/// Rest of each channel, in cycles of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refresh {
    /// Cycles from one rest to the next (tREFI).
    pub interval: u32,
    /// Cycles of a rest (tRFC).
    pub rest: u32,
}

impl Refresh {
    /// The rests of a configuration; none if `memory.refresh` is off.
    pub(in crate::design) fn new(config: &Config) -> Option<Refresh> {
        let (memory, cycles_per_ns) = (&config.memory, config.clock.noc_mhz / 1000.0);
        let interval = (memory.refresh_interval_ns * cycles_per_ns).round().max(1.0);
        let rest = (memory.refresh_ns * cycles_per_ns).round().clamp(0.0, interval - 1.0);
        memory.refresh.then_some(Refresh { interval: interval as u32, rest: rest as u32 })
    }

    /// Share of the bandwidth that it leaves.
    pub fn left(&self) -> f64 {
        1.0 - f64::from(self.rest) / f64::from(self.interval)
    }

    /// Cycles until the first rest of a channel of so many: their rests are spread evenly, so that not all are silent at
    /// once.
    pub fn phase(&self, channel: u32, channels: u32) -> u32 {
        (u64::from(self.interval) * u64::from(channel) / u64::from(channels)) as u32
    }
}

#[cfg(test)]
mod tests {
    use crate::design::card::refresh::*;

    #[test]
    fn a_fifteenth_of_the_time_goes_to_refresh_and_twice_that_above_85_degrees() {
        let left = |interval_ns: f64| {
            let mut config = Config::default();
            config.memory.refresh_interval_ns = interval_ns;
            Refresh::new(&config).unwrap().left()
        };
        assert!((left(3900.0) - 0.933).abs() < 0.001 && (left(1950.0) - 0.867).abs() < 0.001);
        let mut config = Config::default();
        config.memory.refresh = false;
        assert_eq!(Refresh::new(&config), None);
    }

    #[test]
    fn channels_rest_one_after_the_other() {
        let refresh = Refresh { interval: 975, rest: 65 };
        let phases: Vec<_> = (0..32).map(|channel| refresh.phase(channel, 32)).collect();
        assert!(phases.windows(2).all(|two| two[0] < two[1]) && phases[31] < 975);
    }
}
