//! Decisions of cells that many blocks use: arbiters and credits.

pub mod arbiter2;
pub mod arbiter4;
pub mod credit_counter;
pub mod credit_pointers;
pub mod eager_fork;
pub mod round_robin;
