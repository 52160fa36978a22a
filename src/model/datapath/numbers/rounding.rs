//! Shifts of integers that round.

/// Returns `value * 2^shift`, rounded to the nearest integer, halves upwards: the last bit shifted out is the
/// carry in.
pub fn shift(value: i128, shift: i32) -> i128 {
    if shift >= 0 {
        value << shift
    } else {
        let down = (-shift).min(126);
        (value + (1 << (down - 1))) >> down
    }
}

/// Returns `value * 2^-down`, rounded as by [`shift`].
pub fn half_up(value: i64, down: u32) -> i64 {
    shift(i128::from(value), -(down.min(126) as i32)) as i64
}
