//! Placement of the cache, its order of visits, and its appending (TaKV).

pub(super) mod append;
pub(super) mod bus;
pub(super) mod descriptor;
pub(super) mod mapping;
pub(super) mod pages;
pub(super) mod pieces;
pub(super) mod placement;
pub(super) mod port_rate;
pub(super) mod slice_address;
pub(super) mod token_places;
pub mod visits;
