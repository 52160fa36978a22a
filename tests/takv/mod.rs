//! Tests of TaKV: placement of slices, decode steps, external memory, swaps.

mod append;
mod external_memory;
mod forecast_error;
mod grown_caches;
mod lengths;
mod mapping_choice;
mod page_table;
mod placement;
mod samples;
mod shapes;
mod spread;
mod steps;
mod swaps;
mod timing;
