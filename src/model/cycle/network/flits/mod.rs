//! Flits and lists of one cycle, without allocation.

pub(super) mod fixed_list;
pub(super) mod flit;
pub(super) mod flit_store;
pub(super) mod lanes;
pub(super) mod work_lists;
