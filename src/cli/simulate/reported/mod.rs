//! Reports of runs that have no plain result: how they ended, and faults that they were given.

pub(in crate::cli) mod ended;
pub(in crate::cli) mod faults;
