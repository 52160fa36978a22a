//! Decision to swap two homes: they swap if that lowers the sum of squares over the rows.
//!
//! The heavy row loses d = heavy value - light value, the light one gains it. Of H^2 + L^2 that takes
//! 2d (H - L - d), which is above zero just if 0 < d < H - L.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Sums and values have one width, the shell's.
#[derive(LogicBlock)]
pub struct SwapDecision<const SUM: usize> {
    /// Occupancy of the heaviest row.
    pub heavy_sum: Signal<In, Bits<SUM>>,
    /// Occupancy of the lightest row.
    pub light_sum: Signal<In, Bits<SUM>>,
    /// That of the heaviest home of the heaviest row.
    pub heavy_value: Signal<In, Bits<SUM>>,
    /// That of the lightest home of the lightest row.
    pub light_value: Signal<In, Bits<SUM>>,
    /// They exchange.
    pub swaps: Signal<Out, Bit>,
}

impl<const SUM: usize> SwapDecision<SUM> {
    /// A decision; there is nothing to set.
    pub fn new() -> Self {
        SwapDecision {
            heavy_sum: Default::default(),
            light_sum: Default::default(),
            heavy_value: Default::default(),
            light_value: Default::default(),
            swaps: Default::default(),
        }
    }
}

impl<const SUM: usize> Default for SwapDecision<SUM> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SUM: usize> Logic for SwapDecision<SUM> {
    #[hdl_gen]
    fn update(&mut self) {
        self.swaps.next = (self.heavy_value.val() > self.light_value.val())
            & (self.heavy_sum.val() > self.light_sum.val())
            & ((self.heavy_value.val() - self.light_value.val())
                < (self.heavy_sum.val() - self.light_sum.val()));
    }
}

/// Occupancies of a row and of the home that would leave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// Of the row.
    pub sum: u64,
    /// Of the home.
    pub value: u64,
}

/// Returns whether the homes swap.
#[inline]
pub fn rule(heavy: Side, light: Side) -> bool {
    heavy.value > light.value && heavy.sum > light.sum && heavy.value - light.value < heavy.sum - light.sum
}

/// Prints [`SwapDecision`].
pub fn swap_decision() -> Result<Kernel, PrintError> {
    Kernel::print("swap_decision", "Whether two homes exchange their places.", &SwapDecision::<6>::new())
}

#[cfg(test)]
mod tests {
    use crate::kernels::takv::swap_decision::*;

    #[test]
    fn homes_swap_just_if_that_lowers_the_sum_of_squares() {
        let mut uut = SwapDecision::<6>::new();
        for (heavy, light) in (0..12_u64).flat_map(|h| (0..=h).map(move |l| (h, l))) {
            for (of_heavy, of_light) in (0..=heavy).flat_map(|h| (0..=light).map(move |l| (h, l))) {
                uut.heavy_sum.next = heavy.into();
                uut.light_sum.next = light.into();
                uut.heavy_value.next = of_heavy.into();
                uut.light_value.next = of_light.into();
                assert!(simulate(&mut uut, 4));
                let sides = [(heavy, of_heavy), (light, of_light)].map(|(sum, value)| Side { sum, value });
                assert_eq!(uut.swaps.val(), rule(sides[0], sides[1]), "{sides:?}");
                let moved = i64::try_from(of_heavy).unwrap() - i64::try_from(of_light).unwrap();
                let (heavy, light) = (heavy as i64, light as i64);
                let after = (heavy - moved).pow(2) + (light + moved).pow(2);
                let better = after < heavy.pow(2) + light.pow(2);
                assert_eq!(uut.swaps.val(), better, "{heavy} {light} {of_heavy} {of_light}");
            }
        }
    }
}
