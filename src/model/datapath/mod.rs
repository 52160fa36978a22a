//! Datapath of PaD, exact in every bit. It knows nothing of cycles.

pub mod attention;
pub mod dot;
pub mod layout;
pub mod normalise;
pub mod numbers;
mod params;
pub mod part;
pub mod reference;
pub mod root;
pub mod softmax;
pub mod state;
pub mod tensors;

pub use attention::{attend, split, Split};
pub use dot::{align, dot, Aligned, Dot, Lane, Vector};
pub use normalise::Reciprocal;
pub use numbers::exp2::{Exp2, Scale, Weight};
pub use numbers::formats::Formats;
pub use numbers::{exp2, fixed, formats, fp16};
pub use params::{Datapath, DatapathShape};
pub use part::Packet;
pub use root::Root;
pub use softmax::{Partial, Query};
pub use state::State;
