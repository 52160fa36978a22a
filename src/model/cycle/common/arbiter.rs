//! Round robin over many requests, and the choice of a free entry.

/// Returns the lowest request in `asks` above the last served one, else the lowest of all. `later` has a bit
/// for each number above the last served one.
pub fn in_turn(asks: u64, later: u64) -> Option<u32> {
    let ahead = asks & later;
    let from = if ahead == 0 { asks } else { ahead };
    (from != 0).then(|| from.trailing_zeros())
}

/// Returns the `later` mask of [`in_turn`] after `served`.
pub fn after(served: u32) -> u64 {
    u64::MAX.checked_shl(served + 1).unwrap_or(0)
}

/// Returns the lowest of `count` entries that is not in `taken`.
pub fn lowest_free(taken: u64, count: u32) -> Option<u32> {
    let place = taken.trailing_ones();
    (place < count).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::cells::{arbiter2, round_robin};

    #[test]
    fn two_in_turn_are_granted_as_by_the_arbiter_of_two() {
        let (mut ptr, mut later, mut state) = (0, 0, 1_u64);
        for _ in 0..10_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let asks = state >> 62;
            let granted = (asks != 0).then(|| arbiter2::rule(asks as u8, ptr));
            ptr = granted.map_or(ptr, round_robin::next::<2>);
            let served = in_turn(asks, later);
            later = served.map_or(later, after);
            assert_eq!(granted.map(u32::from), served);
        }
    }

    #[test]
    fn turns_go_round_and_begin_again_at_the_lowest() {
        let (mut later, mut order) = (0, Vec::new());
        for _ in 0..5 {
            let served = in_turn(0b1011, later).expect("somebody asks");
            later = after(served);
            order.push(served);
        }
        assert_eq!(order, [0, 1, 3, 0, 1]);
        assert_eq!((in_turn(0, later), after(63)), (None, 0));
    }

    #[test]
    fn the_lowest_free_place_is_none_when_all_are_taken() {
        assert_eq!([0b0, 0b1011, 0b1111].map(|taken| lowest_free(taken, 4)), [Some(0), Some(2), None]);
        assert_eq!(lowest_free(u64::MAX, 64), None);
    }
}
