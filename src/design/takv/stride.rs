//! Legal strides of the placement.

/// Greatest common divisor.
pub(in crate::design) fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// A legal placement stride: odd and coprime to `rows` (section TaKV of the paper).
pub(in crate::design) fn legal_stride(a: u32, rows: u32) -> bool {
    a % 2 == 1 && gcd(a, rows) == 1
}

/// `cols + 1` if that is legal, else the smallest legal stride.
pub(in crate::design) fn default_stride(cols: u32, rows: u32) -> u32 {
    std::iter::once(cols + 1).chain(1..).find(|&a| legal_stride(a, rows)).unwrap_or(1)
}
