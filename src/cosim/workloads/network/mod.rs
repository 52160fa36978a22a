//! One load point of the network: warm-up, measurement, drain.

pub mod measure;
mod packet_times;
mod phases;
mod sender;
pub mod statistics;
pub mod windows;

pub use packet_times::PacketTimes;
pub use phases::Phases;
pub use statistics::Bin;
pub use windows::Windows;
