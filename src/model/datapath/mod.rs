//! Datapath of PaD, exact in every bit. It knows nothing of cycles.

pub mod attention;
pub mod dot;
pub mod layout;
pub mod numbers;
mod params;
pub mod reduction;
pub mod reference;
pub mod softmax;
pub mod tensors;

pub use attention::{attend, attend_scaled, split, Split, Tokens};
pub use dot::{align, dot, Aligned, Dot, Lane, Vector};
pub use numbers::exp2::{Exp2, Scale, Weight};
pub use numbers::formats::Formats;
pub use numbers::scales::HeadScales;
pub use numbers::sink::Sink;
pub use params::{Datapath, DatapathShape};
pub use reduction::normalise::Reciprocal;
pub use reduction::part::Packet;
pub use reduction::root::Root;
pub use reduction::state::State;
pub use softmax::{Partial, Query};
