//! Runs and steps of drawn shapes, which nobody chose.

pub(super) mod drawn_run;
pub(super) mod drawn_step;
