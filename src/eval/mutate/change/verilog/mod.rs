//! A reader of emitted Verilog: tokens, expressions and statements, each with its bytes.
//!
//! It reads as much of the language as the templates use, and no more. It knows nothing of mutants.

mod cursor;
mod expression;
mod module;
mod token;

pub(in crate::eval::mutate) use expression::{Expression, Kind};
pub(in crate::eval::mutate) use module::{Place, Reading, Spot, Statement};
pub(in crate::eval::mutate) use token::Span;
