//! Reports of runs beside their plain result: how they ended, faults that they were given, rare states that they reached.

pub(in crate::cli) mod ended;
pub(in crate::cli) mod faults;
pub(in crate::cli) mod rare;
