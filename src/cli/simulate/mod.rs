//! Subcommands that simulate, and their common parts.

pub mod card;
pub mod cosim;
pub mod decode;
pub(super) mod engine;
pub mod fetch;
pub(super) mod library;
pub(super) mod ports;
pub(super) mod reported;
pub mod run;
pub mod soak;
pub(super) mod work;
