//! Static timing analysis of flat netlists of UltraScale+ cells: the longest paths between registers.
//!
//! * [`delays`](library::delays): delays of cells and nets with their sources; [`arcs`](library::arcs): what a cell contributes; [`cells`](library::cells) and
//!   [`dsp`](library::dsp): each cell of the library.
//! * [`graph`]: the netlist as a graph; [`arrivals`]: longest ways in it; [`paths`]: these by name.
//! * [`fanout`]: the nets with the most pins.
//! * [`part`]: the paths of a part and its interface.
//! * [`mod@reference`]: figures of an old version by the same model.
//! * [`whole`]: paths of the whole design, put together from the parts; [`timed`]: their synthesis.
//!
//! Nothing is placed: the delay of a net is a function of its fan-out. `docs/estimate.md` has the model.

mod arrivals;
mod fanout;
mod graph;
mod library;
mod part;
mod paths;
mod reference;
pub(super) mod timed;
mod whole;

pub use fanout::Net;
pub use part::PartTiming;
pub use paths::{ClockPaths, Path, Step};
pub use reference::{Reference, REFERENCE, REFERENCE_VERSION};
pub use whole::{time_whole, Placed, Timing};

#[cfg(test)]
mod tests;
