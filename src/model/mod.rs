//! What the fabric must do: the numbers of PaD in every bit, and, in [`cycle`], what moves when.
//!
//! [`Datapath`] is made of a head's and a flit's size. A [`Partial`] takes the K and V flits of a tile's segments
//! as the Verilog does, a [`Root`] merges the PART packets of the tiles and gives the output in FP16; all that lies between
//! can be read on the way. [`attend`] is the whole of it. [`mod@reference`] has what the result is measured against,
//! [`tensors`] the inputs. Formats, error analysis and figures are in `docs/pad_numbers.md`.
//!
//! No number depends on cycles: the datapath knows none.

pub mod attention;
pub mod cycle;
pub mod dot;
pub mod exp2;
pub mod fixed;
pub mod formats;
pub mod fp16;
pub mod layout;
pub mod normalise;
pub mod part;
pub mod reference;
pub mod root;
pub mod softmax;
pub mod tensors;

pub use attention::{attend, split, Split};
pub use dot::{dot, Dot, Lane};
pub use exp2::{Exp2, Scale, Weight};
pub use formats::Formats;
pub use normalise::Reciprocal;
pub use part::Packet;
pub use root::Root;
pub use softmax::{Partial, Query};

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

    /// A query head at a tile that has not seen a token yet.
    pub fn partial(&self, query: &[u16]) -> Partial<'_> {
        Partial::new(self, Query::new(self, query))
    }

    /// A query head at its reduce root, before the first partial result.
    pub fn root(&self) -> Root<'_> {
        Root::new(self)
    }
}
