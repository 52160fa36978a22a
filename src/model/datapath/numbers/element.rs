//! Elements of K and V in memory, by format.
//!
//! Every number of an eight-bit format is one of FP16 too. So the datapath has FP16 bits throughout, and only memory has
//! codes. BF16 is converted where it enters the cache and lies there as FP16.

use crate::config::KvFormat;
use crate::model::datapath::numbers::fp16;
use half::f16;
use std::sync::LazyLock;

/// Sign of an FP16.
const SIGN: u16 = 0x8000;
/// What INT8 has for an infinity or a NaN: -128, which is none of its numbers.
const NO_INTEGER: u16 = SIGN | fp16::NAN;

/// Numbers of a format as a part of those of FP16.
struct Numbers {
    /// Bits behind the leading one.
    fraction: i32,
    /// Exponent of the last place of the smallest numbers.
    smallest: i32,
    /// The largest, as FP16 bits.
    most: u16,
}

fn numbers(format: KvFormat) -> Numbers {
    match format {
        KvFormat::Fp16 => Numbers { fraction: 10, smallest: -24, most: 0x7bff },
        // 65 280.
        KvFormat::Bf16 => Numbers { fraction: 7, smallest: -24, most: 0x7bf8 },
        // 448.
        KvFormat::Fp8E4m3 => Numbers { fraction: 3, smallest: -9, most: 0x5f00 },
        // 57 344.
        KvFormat::Fp8E5m2 => Numbers { fraction: 2, smallest: -16, most: 0x7b00 },
        // 127.
        KvFormat::Int8 => Numbers { fraction: 10, smallest: 0, most: 0x57f0 },
    }
}

/// Returns the number of a format nearest to a finite value, ties to even, as FP16 bits. What is beyond the largest becomes
/// the largest.
fn rounded(format: KvFormat, value: f64) -> u16 {
    let Numbers { fraction, smallest, most } = numbers(format);
    let sign = u16::from(value.is_sign_negative()) << 15;
    if value == 0.0 {
        return if format == KvFormat::Int8 { 0 } else { sign };
    }
    let leading = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let place = 2f64.powi((leading - fraction).max(smallest));
    let nearest = (value.abs() / place).round_ties_even() * place;
    if format == KvFormat::Int8 && nearest == 0.0 {
        return 0;
    }
    // It is a number of FP16, so nothing is rounded here.
    sign | f16::from_f64(nearest.min(fp16::to_f64(most))).to_bits()
}

/// Returns the number of a format nearest to an FP16, ties to even, as FP16 bits. What is beyond the largest becomes the
/// largest. Infinities and NaN become NaN where the format has no infinity, and stay where it has.
pub fn nearest(format: KvFormat, bits: u16) -> u16 {
    quantised(format, bits, 1.0)
}

/// Returns the number of a format nearest to an FP16 times a factor, the inverse of a scale: the product is exact, and
/// rounded once. Else as [`nearest`]. Zeros of INT8 have no sign.
pub fn quantised(format: KvFormat, bits: u16, inverse: f32) -> u16 {
    if !fp16::is_special(bits) {
        return rounded(format, fp16::to_f64(bits) * f64::from(inverse));
    }
    let is_nan = bits & 0x3ff != 0;
    match format {
        KvFormat::Fp8E4m3 => bits & SIGN | fp16::NAN,
        KvFormat::Fp8E5m2 if is_nan => bits & SIGN | fp16::NAN,
        KvFormat::Int8 => NO_INTEGER,
        _ => bits,
    }
}

/// The scale that makes the largest of some numbers the largest of the format: 1 where all are 0 or one is not finite.
pub fn largest_fits(format: KvFormat, elements: &[u16]) -> f32 {
    let largest = elements.iter().map(|bits| bits & !SIGN).max().unwrap_or(0);
    if largest == 0 || fp16::is_special(largest) {
        return 1.0;
    }
    (fp16::to_f64(largest) / fp16::to_f64(numbers(format).most)) as f32
}

/// FP16 bits of the smallest scale of a token, 2^-14, and of the largest, below 2.
const TOKEN_SCALES: (u16, u16) = (0x0400, 0x3fff);

/// The scale of a token's row that makes its largest finite number the largest of the format, or a little less: FP16, from
/// 2^-14 to below 2. A device finds it while the row comes: it needs shifts and additions only.
pub fn token_scale(format: KvFormat, row: &[u16]) -> u16 {
    let magnitudes = row.iter().map(|bits| bits & !SIGN).filter(|&bits| !fp16::is_special(bits));
    let largest = fp16::fields(magnitudes.max().unwrap_or(0));
    let of = largest.significand;
    // 128 / 127 and 8 / 7, and a unit more for what is cut off.
    let (sum, down) = match format {
        KvFormat::Int8 => (of + (of >> 7) + 1, 7),
        _ => (of + (of >> 3) + (of >> 6) + (of >> 9) + 1, 9),
    };
    let carries = sum >> fp16::SIGNIFICAND_BITS;
    let (significand, exponent) =
        ((sum + carries) >> carries, largest.exponent as i32 + carries as i32 - down);
    let bits = (exponent.max(0) as u16) << 10 | (significand & 0x3ff) as u16;
    if exponent < 1 {
        TOKEN_SCALES.0
    } else {
        bits.min(TOKEN_SCALES.1)
    }
}

/// The inverse of a token's scale as it is multiplied with: 17 bits, rounded to nearest.
pub fn token_inverse(scale: u16) -> f32 {
    const ONE: u32 = 1 << 26;
    let fields = fp16::fields(scale);
    let inverse = (ONE + fields.significand / 2) / fields.significand;
    (f64::from(inverse) * 2f64.powi(-1 - fields.exponent as i32)) as f32
}

/// A row of FP16 that becomes these numbers of a format by this scale, which is its own ([`token_scale`]), if there is one.
pub fn row_of(format: KvFormat, numbers: &[u16], scale: u16) -> Vec<u16> {
    let value = |bits: u16| fp16::to_f64(bits) * fp16::to_f64(scale);
    let mut row: Vec<u16> = numbers.iter().map(|&bits| f16::from_f64(value(bits)).to_bits()).collect();
    let largest = numbers.iter().map(|bits| bits & !SIGN).max().unwrap_or(0);
    let near = f16::from_f64(value(largest)).to_bits();
    // Rounding may have moved the largest to the scale before or behind.
    let fits = |of: &u16| {
        token_scale(format, &[*of]) == scale && quantised(format, *of, token_inverse(scale)) == largest
    };
    let around = (0..64).flat_map(|off| [near.saturating_sub(off), near + off]);
    if let Some(most) = around.filter(|of| *of > 0).find(fits) {
        for (to, number) in row.iter_mut().zip(numbers).filter(|(_, number)| **number & !SIGN == largest) {
            *to = most | number & SIGN;
        }
    }
    row
}

/// True for a scale that a token may have.
pub fn is_token_scale(bits: u16) -> bool {
    (TOKEN_SCALES.0..=TOKEN_SCALES.1).contains(&bits)
}

/// True if a number is one of the format.
pub fn is_of(format: KvFormat, bits: u16) -> bool {
    nearest(format, bits) == bits
}

/// FP16 bits of a code of E4M3.
pub fn of_e4m3(code: u8) -> u16 {
    let (exponent, fraction) = (u64::from(code >> 3 & 15), u64::from(code & 7));
    let sign = u16::from(code >> 7) << 15;
    match (exponent, fraction) {
        (15, 7) => sign | fp16::NAN,
        (0, fraction) => sign | fp16::round(false, fraction, -9, false),
        (exponent, fraction) => sign | fp16::round(false, 8 | fraction, exponent as i32 - 10, false),
    }
}

/// FP16 bits of a code of INT8.
pub fn of_int8(code: u8) -> u16 {
    match code as i8 {
        i8::MIN => NO_INTEGER,
        integer => f16::from_f32(f32::from(integer)).to_bits(),
    }
}

/// Code of E4M3 of each FP16 that it has; the NaN of others.
static E4M3: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut codes: Vec<u8> = (0..=u16::MAX).map(|bits| 0x7f | (bits >> 8) as u8 & 0x80).collect();
    (0..=u8::MAX).for_each(|code| codes[usize::from(of_e4m3(code))] = code);
    codes
});

fn code_of_int8(bits: u16) -> u8 {
    match fp16::is_special(bits) {
        true => i8::MIN as u8,
        false => fp16::to_f64(bits) as i8 as u8,
    }
}

/// Bytes of elements in memory, little-endian. Each is a number of the format.
pub fn bytes_of(format: KvFormat, elements: &[u16]) -> Vec<u8> {
    match format {
        KvFormat::Fp16 | KvFormat::Bf16 => elements.iter().flat_map(|bits| bits.to_le_bytes()).collect(),
        KvFormat::Fp8E4m3 => elements.iter().map(|&bits| E4M3[usize::from(bits)]).collect(),
        KvFormat::Fp8E5m2 => elements.iter().map(|bits| (bits >> 8) as u8).collect(),
        KvFormat::Int8 => elements.iter().map(|&bits| code_of_int8(bits)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::datapath::numbers::element::*;

    /// Value of a code by the formula of OCP's OFP8, section 5.
    fn value(code: u8, exponent_bits: u32, bias: i32) -> f64 {
        let fraction_bits = 7 - exponent_bits;
        let field = i32::from(code >> fraction_bits) & ((1 << exponent_bits) - 1);
        let fraction = f64::from(code & ((1 << fraction_bits) - 1)) / f64::from(1 << fraction_bits);
        let magnitude = match field {
            0 => fraction * 2f64.powi(1 - bias),
            field => (1.0 + fraction) * 2f64.powi(field - bias),
        };
        if code >> 7 == 1 {
            -magnitude
        } else {
            magnitude
        }
    }

    #[test]
    fn a_code_of_e4m3_has_the_value_of_the_standard() {
        for code in (0..=u8::MAX).filter(|code| code & 0x7f != 0x7f) {
            assert_eq!(fp16::to_f64(of_e4m3(code)), value(code, 4, 7), "{code:02x}");
            assert_eq!(bytes_of(KvFormat::Fp8E4m3, &[of_e4m3(code)]), [code]);
            assert!(is_of(KvFormat::Fp8E4m3, of_e4m3(code)), "{code:02x}");
        }
        assert!(fp16::is_special(of_e4m3(0x7f)) && fp16::is_special(of_e4m3(0xff)));
    }

    #[test]
    fn a_code_of_e5m2_is_the_upper_byte_of_fp16() {
        for code in (0..=u8::MAX).filter(|code| code & 0x7c != 0x7c) {
            let bits = u16::from(code) << 8;
            assert_eq!(fp16::to_f64(bits), value(code, 5, 15), "{code:02x}");
            assert!(is_of(KvFormat::Fp8E5m2, bits), "{code:02x}");
            assert_eq!(bytes_of(KvFormat::Fp8E5m2, &[bits]), [code]);
        }
    }

    #[test]
    fn a_number_becomes_the_nearest_of_its_format_ties_to_even() {
        for (format, codes) in [(KvFormat::Fp8E4m3, 0x7e), (KvFormat::Fp8E5m2, 0x7b)] {
            let number = |code: u8| match format {
                KvFormat::Fp8E4m3 => of_e4m3(code),
                _ => u16::from(code) << 8,
            };
            for bits in 0..0x7c00 {
                let at =
                    (0..=codes).take_while(|&code| fp16::to_f64(number(code)) <= fp16::to_f64(bits)).last();
                let below = at.expect("0 is below");
                let above = (below + 1).min(codes);
                let distance = |code: u8| (fp16::to_f64(number(code)) - fp16::to_f64(bits)).abs();
                let nearer = match distance(below).total_cmp(&distance(above)) {
                    std::cmp::Ordering::Less => below,
                    std::cmp::Ordering::Greater => above,
                    std::cmp::Ordering::Equal => below + (below & 1) * u8::from(above > below),
                };
                assert_eq!(nearest(format, bits), number(nearer), "{format:?} {bits:04x}");
                assert_eq!(nearest(format, bits | SIGN), number(nearer) | SIGN);
            }
        }
    }

    #[test]
    fn a_number_of_bf16_has_seven_bits_behind_its_leading_one() {
        for bits in 0..0x7c00u16 {
            let exact = half::bf16::from_f64(fp16::to_f64(bits)).to_f64();
            let ours = fp16::to_f64(nearest(KvFormat::Bf16, bits));
            // Beyond 65 280 and below 2^-17 FP16 has not all of them.
            let expected = if exact > 65_280.0 { 65_280.0 } else { exact };
            let wide = exact >= 2f64.powi(-17);
            assert!(!wide || ours == expected, "{bits:04x}: {ours}, {expected}");
        }
    }

    #[test]
    fn a_code_of_int8_is_an_integer_and_the_least_of_them_is_none() {
        for code in (0..=u8::MAX).filter(|code| *code != 0x80) {
            let bits = of_int8(code);
            assert_eq!(fp16::to_f64(bits), f64::from(code as i8), "{code:02x}");
            assert!(is_of(KvFormat::Int8, bits), "{code:02x}");
            assert_eq!(bytes_of(KvFormat::Int8, &[bits]), [code]);
        }
        for special in [0x7e00, 0xfe00, 0x7c00, 0xfc00] {
            assert_eq!(bytes_of(KvFormat::Int8, &[nearest(KvFormat::Int8, special)]), [0x80]);
        }
        assert!(fp16::is_special(of_int8(0x80)));
        let rounded = |value: f64| of_int8_rounded(value);
        assert_eq!([0.5, 1.5, -0.5, -2.5, 126.5, 127.5, -1e4].map(rounded), [0, 2, 0, -2, 126, 127, -127]);
    }

    fn of_int8_rounded(value: f64) -> i8 {
        let bits = f16::from_f64(value).to_bits();
        bytes_of(KvFormat::Int8, &[nearest(KvFormat::Int8, bits)])[0] as i8
    }

    #[test]
    fn a_row_fills_the_format_by_its_scale() {
        for (format, most) in [(KvFormat::Int8, 127.0), (KvFormat::Fp8E4m3, 448.0)] {
            for bits in (1..0x7c00u16).step_by(7) {
                let scale = token_scale(format, &[0x8000, bits, 0x7e00, bits / 2]);
                assert!(is_token_scale(scale), "{bits:04x}: {scale:04x}");
                let exact = fp16::to_f64(bits) / most;
                let ratio = fp16::to_f64(scale) / exact;
                let inside = exact > 2f64.powi(-14) && exact < 1.99;
                assert!(!inside || (0.998..1.0025).contains(&ratio), "{format:?} {bits:04x}: {ratio}");
                let product = f64::from(token_inverse(scale)) * fp16::to_f64(scale);
                assert!((product - 1.0).abs() < 2f64.powi(-16), "{scale:04x}: {product}");
                let code = quantised(format, bits, token_inverse(scale));
                assert!(!inside || fp16::to_f64(code) >= most * 0.93, "{bits:04x} becomes {code:04x}");
            }
            assert_eq!(token_scale(format, &[0, 0x8000, 0x7c00]), 0x0400);
        }
    }

    #[test]
    fn a_nan_stays_one() {
        for format in KvFormat::ALL {
            assert!(fp16::is_special(nearest(format, 0x7e00)) && fp16::is_special(nearest(format, 0xfc00)));
        }
        assert_eq!(bytes_of(KvFormat::Fp8E4m3, &[0x7e00, 0xffff, 0xfc00]), [0x7f, 0xff, 0xff]);
    }
}
