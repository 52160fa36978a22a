//! Lockstep: runs two fabrics and compares them in every cycle, link by link or port by port.

mod difference;
mod links;
mod mesh;
mod ports;

pub use difference::Difference;
pub use mesh::Lockstep;
pub use ports::PortLockstep;
