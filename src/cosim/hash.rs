//! Hash of 64-bit words that can be inverted.

/// One step of the splitmix64 generator: a bijection of 64-bit words that looks random.
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The inverse of [`mix`].
pub fn unmix(x: u64) -> u64 {
    // Each step undoes one line above; the factors are the inverses modulo 2^64.
    let x = (x ^ (x >> 31) ^ (x >> 62)).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let x = (x ^ (x >> 27) ^ (x >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    (x ^ (x >> 30) ^ (x >> 60)).wrapping_sub(0x9e37_79b9_7f4a_7c15)
}
