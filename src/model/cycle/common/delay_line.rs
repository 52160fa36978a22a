//! Delay of single-cycle pulses: a chain of one-bit registers.

/// Registers of the chain; bit 0 is the last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DelayLine(u128);

/// Longest delay in cycles.
pub const LONGEST: u32 = u128::BITS;

impl DelayLine {
    /// A pulse leaves in this cycle.
    pub fn comes(self) -> bool {
        self.0 & 1 == 1
    }

    /// The chain holds no pulse.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Advances one cycle. A pulse that enters leaves `cycles` later.
    pub fn step(&mut self, goes: bool, cycles: u32) {
        self.0 = self.0 >> 1 | u128::from(goes) << (cycles - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pulse_comes_so_many_cycles_later() {
        for cycles in [1, 5, LONGEST] {
            let mut line = DelayLine::default();
            line.step(true, cycles);
            let waits = (1..).find(|_| {
                let comes = line.comes();
                line.step(false, cycles);
                comes
            });
            assert_eq!((waits, line.is_empty()), (Some(cycles), true));
        }
    }
}
