//! Decisions of the front: runs, descriptors, registers.

pub mod access_state;
pub mod descriptor_check;
pub mod run_failure;
pub mod run_state;
