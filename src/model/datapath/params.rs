//! Parameters of the datapath: sizes, widths of numbers, and the constants that follow.

use crate::config::KvFormat;
use crate::design::Design;
use crate::model::datapath::numbers::exp2::{Exp2, Scale};
use crate::model::datapath::numbers::formats::Formats;

/// Sizes that determine the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatapathShape {
    /// Elements of a query, of a K row and of a V row (d_h).
    pub head_dim: u32,
    /// Elements of a head of the model, which is filled up with zeros: the scale of a logit follows from them.
    pub model_dim: u32,
    /// Elements of a flit (E): lanes of a row of the array, tokens of a block.
    pub flit_elements: u32,
    /// Format of K and V.
    pub format: KvFormat,
}

impl DatapathShape {
    /// Returns the sizes of a fabric.
    pub fn of(design: &Design) -> DatapathShape {
        DatapathShape {
            head_dim: design.pe.head_dim,
            model_dim: design.model.head_dim,
            flit_elements: design.flit.elements,
            format: design.pe.format,
        }
    }

    /// Sizes of heads in FP16 that fill a row.
    pub const fn whole(head_dim: u32, flit_elements: u32) -> DatapathShape {
        DatapathShape { head_dim, model_dim: head_dim, flit_elements, format: KvFormat::Fp16 }
    }

    /// Halves of a flit of a partial result, 16 bits each.
    pub const fn flit_halves(&self) -> u32 {
        self.flit_elements * self.format.bytes() / 2
    }
}

/// Datapath of a row, with its constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datapath {
    /// Sizes.
    pub shape: DatapathShape,
    /// Widths of numbers.
    pub formats: Formats,
    /// log2(e) / sqrt(model_dim).
    pub scale: Scale,
    /// Table of powers of two.
    pub exp2: Exp2,
}

impl Datapath {
    /// Creates the datapath of the Verilog.
    ///
    /// # Panics
    /// When neither of head and flit is a multiple of the other, or a flit has fewer than four elements. No
    /// checked design is like that.
    pub fn new(shape: DatapathShape) -> Datapath {
        Datapath::with_formats(shape, Formats::of(shape.format))
    }

    /// Creates a datapath with other widths, to measure the value of a bit.
    pub fn with_formats(shape: DatapathShape, formats: Formats) -> Datapath {
        let (head_dim, lanes) = (shape.head_dim, shape.flit_elements);
        assert!(lanes >= 4 && head_dim > 0, "{lanes} elements a flit, {head_dim} a head");
        assert!(head_dim.is_multiple_of(lanes) || lanes.is_multiple_of(head_dim), "{head_dim} and {lanes}");
        let scale = Scale::new(shape.model_dim, &formats);
        Datapath { shape, formats, scale, exp2: Exp2::new(&formats) }
    }
}
