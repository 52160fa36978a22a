//! The home of slices: filter, table, staging memory, streamer.

pub(super) mod bloom_filter;
pub(super) mod burst_gate;
pub(super) mod duplicate_filter;
pub(super) mod fetch_miss_queue;
pub(super) mod home_agent;
pub(super) mod request_table;
pub(super) mod slice_streamer;
pub(super) mod staging_directory;
