//! A reader of emitted Verilog: tokens, expressions and statements, each with its bytes.
//!
//! It reads as much of the language as the templates use, and no more. It knows nothing of mutants.

mod cursor;
mod expression;
mod module;
mod token;

pub(super) use expression::{Expression, Kind};
pub(super) use module::{Place, Reading, Spot, Statement};
pub(super) use token::Span;
