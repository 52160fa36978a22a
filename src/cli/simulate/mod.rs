//! Subcommands that simulate, and their common parts.

pub mod cosim;
pub mod decode;
pub(super) mod engine;
pub mod fetch;
pub(super) mod library;
pub(super) mod ports;
pub(super) mod reported;
pub mod run;
pub mod sim;
pub mod soak;
pub(super) mod work;
