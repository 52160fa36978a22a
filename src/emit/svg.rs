//! Writes drawings to scale as SVG, a shape a line. Charts are drawn by `plotters`.
//!
//! Lengths are whole user units, so that no rounding differs between machines. Texts are numbers, words of this
//! crate and names of designs, which are plain words: none needs to be escaped.

/// Adds a line to a drawing; writing to a `String` cannot fail.
macro_rules! draw {
    ($svg:expr, $($arg:tt)*) => {{
        use std::fmt::Write as _;
        let _ = writeln!($svg, $($arg)*);
    }};
}

pub(crate) use draw;
