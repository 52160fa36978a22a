//! Round robin over a few requests: the rule of both arbiters, and of the circle of five inputs in a router's model.

/// Returns the first of `INPUTS` requests, a bit each, from `ptr` on, upwards and around. At least one asks, and there
/// are at most eight.
#[inline(always)]
pub fn first<const INPUTS: u8>(requests: u8, ptr: u8) -> u8 {
    let turned = (u16::from(requests) | u16::from(requests) << INPUTS) >> ptr;
    after::<INPUTS>(turned.trailing_zeros() as u8 + ptr)
}

/// Returns the request that is preferred after a grant to `winner`.
#[inline(always)]
pub fn next<const INPUTS: u8>(winner: u8) -> u8 {
    (winner + 1) * u8::from(winner + 1 != INPUTS)
}

/// Takes a number once around back into the circle.
#[inline(always)]
fn after<const INPUTS: u8>(number: u8) -> u8 {
    if number >= INPUTS {
        number - INPUTS
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use crate::kernels::cells::round_robin::*;

    #[test]
    fn a_request_waits_for_at_most_one_grant_of_each_other() {
        for requests in 1..32_u8 {
            let mut ptr = 0;
            let order: Vec<_> = (0..requests.count_ones())
                .map(|_| {
                    let winner = first::<5>(requests, ptr);
                    ptr = next::<5>(winner);
                    winner
                })
                .collect();
            let expected: Vec<_> = (0..5).filter(|input| requests >> input & 1 == 1).collect();
            assert_eq!(order, expected, "requests {requests:05b}");
        }
    }

    /// A router's model counts all five inputs, of which its Verilog leaves out the one that an output never serves.
    #[test]
    fn a_circle_with_a_gap_takes_the_turns_of_a_smaller_circle() {
        for gap in 0..5 {
            let closed = |input: u8| input - u8::from(input > gap);
            for (requests, before) in (1..32_u8).flat_map(|r| (0..5).map(move |b| (r & !(1 << gap), b))) {
                if requests == 0 || before == gap {
                    continue;
                }
                let lower = requests & ((1 << gap) - 1);
                let small = lower | (requests >> 1 & !((1 << gap) - 1));
                let winner = first::<5>(requests, next::<5>(before));
                assert_eq!(closed(winner), first::<4>(small, next::<4>(closed(before))), "gap {gap}");
            }
        }
    }
}
