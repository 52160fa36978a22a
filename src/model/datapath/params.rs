//! Parameters of the datapath: sizes, widths of numbers, and the constants that follow.

use super::exp2::{Exp2, Scale};
use super::formats::Formats;
use crate::design::Design;

/// What the numbers depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatapathShape {
    /// Elements of a query, of a K row and of a V row (d_h).
    pub head_dim: u32,
    /// FP16 elements of a flit (E): lanes of a row of the array, tokens of a block.
    pub flit_elements: u32,
}

impl DatapathShape {
    /// Of a fabric.
    pub fn of(design: &Design) -> DatapathShape {
        let config = &design.config;
        DatapathShape { head_dim: config.pe.head_dim, flit_elements: config.noc.flit_width / 16 }
    }
}

/// The datapath of a row, with its constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datapath {
    /// Sizes.
    pub shape: DatapathShape,
    /// Widths of numbers.
    pub formats: Formats,
    /// log2(e) / sqrt(head_dim).
    pub scale: Scale,
    /// The table of powers of two.
    pub exp2: Exp2,
}

impl Datapath {
    /// As the Verilog has it.
    ///
    /// # Panics
    /// When neither of head and flit is a multiple of the other, or a flit has fewer than four elements: no
    /// design that was checked is so.
    pub fn new(shape: DatapathShape) -> Datapath {
        Datapath::with_formats(shape, Formats::default())
    }

    /// With other widths, to say what a bit is worth.
    pub fn with_formats(shape: DatapathShape, formats: Formats) -> Datapath {
        let (head_dim, lanes) = (shape.head_dim, shape.flit_elements);
        assert!(lanes >= 4 && head_dim > 0, "{lanes} elements a flit, {head_dim} a head");
        assert!(head_dim.is_multiple_of(lanes) || lanes.is_multiple_of(head_dim), "{head_dim} and {lanes}");
        let scale = Scale::new(head_dim, &formats);
        Datapath { shape, formats, scale, exp2: Exp2::new(&formats) }
    }
}
