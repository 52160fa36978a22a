//! Subcommands that simulate, and their common parts.

pub mod cosim;
pub mod decode;
pub(super) mod ended;
pub(super) mod engine;
pub(super) mod faults;
pub mod fetch;
pub(super) mod library;
pub(super) mod ports;
pub mod run;
pub mod sim;
pub mod soak;
pub(super) mod work;
