//! Datapath of PaD, exact in every bit. It knows nothing of cycles.

pub mod attention;
pub mod dot;
pub mod exp2;
pub mod fixed;
pub mod formats;
pub mod fp16;
pub mod layout;
pub mod normalise;
mod params;
pub mod part;
pub mod reference;
pub mod root;
mod rounding;
pub mod softmax;
pub mod state;
pub mod tensors;

pub use attention::{attend, split, Split};
pub use dot::{align, dot, Aligned, Dot, Lane, Vector};
pub use exp2::{Exp2, Scale, Weight};
pub use formats::Formats;
pub use normalise::Reciprocal;
pub use params::{Datapath, DatapathShape};
pub use part::Packet;
pub use root::Root;
pub use softmax::{Partial, Query};
pub use state::State;
