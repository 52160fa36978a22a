//! A pulse that comes so many cycles later: a chain of registers, one bit each.

/// The registers, of which the lowest is the last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DelayLine(u128);

/// Most cycles of a line.
pub const LONGEST: u32 = u128::BITS;

impl DelayLine {
    /// A pulse comes out in this cycle.
    pub fn comes(self) -> bool {
        self.0 & 1 == 1
    }

    /// Nothing is on its way.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Passes a cycle; a pulse that goes in with it comes out `cycles` later.
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
