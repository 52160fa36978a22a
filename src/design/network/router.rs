//! Parameters of one router: its virtual channels, their buffers, and its latency.

use crate::design::network::flit::Class;

/// Most times that other virtual channels of a port may overtake a head flit that could leave.
pub const STARVE_LIMIT: u32 = 15;

/// Cycles of a period in which the wait of a head is counted, and the periods after which the head claims the next
/// credits that it needs. After [`CLAIM_LIMIT`] periods the turn to claim passes on to another head of its input.
pub const CLAIM_PERIOD: u32 = 32;
/// See [`CLAIM_PERIOD`].
pub const CLAIM_PERIODS: u32 = 8;
/// See [`CLAIM_PERIOD`].
pub const CLAIM_LIMIT: u32 = 16;

/// Random bits of a router: what they are after reset, and those whose parity is shifted in. Before
/// they repeat, 65 535 cycles pass.
pub const RANDOM_SEED: u16 = 0xace1;
/// See [`RANDOM_SEED`].
pub const RANDOM_TAPS: u16 = 0xd008;
/// The random bits that are both set when a turn stays: that of each choice of an input between two outputs, with three
/// stages, and that of each input among its channels of KV_DATA.
pub const SLIP_BITS: [[u32; 2]; 6] = [[0, 7], [1, 10], [2, 13], [3, 12], [5, 14], [6, 15]];

/// Parameters of one router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Router {
    /// Virtual channels of VN0 (PART): indices `0..vn0_vcs`.
    pub vn0_vcs: u32,
    /// Virtual channels of VN1: the first carries KV_FETCH, the others KV_DATA.
    pub vn1_vcs: u32,
    /// Flits a virtual channel buffers.
    pub vc_depth: u32,
    /// Cycles from a router's input to its output without load: 2 to write the buffer, then switch; 3 if grants are
    /// registered between allocation and the read of the buffer.
    pub stages: u32,
    /// True if routers replicate flits along XYM trees.
    pub multicast: bool,
}

impl Router {
    /// Grants are registered before buffers are read.
    pub fn staged(self) -> bool {
        self.stages == 3
    }

    /// Virtual channels of a port.
    pub fn vcs(self) -> u32 {
        self.vn0_vcs + self.vn1_vcs
    }

    /// The class that travels on a virtual channel.
    pub fn class_of_vc(self, vc: u32) -> Class {
        if vc < self.vn0_vcs {
            Class::Part
        } else if vc == self.vn0_vcs {
            Class::KvFetch
        } else {
            Class::KvData
        }
    }

    /// The virtual channels that carry a class.
    pub fn vcs_of_class(self, class: Class) -> std::ops::Range<u32> {
        match class {
            Class::Part => 0..self.vn0_vcs,
            Class::KvFetch => self.vn0_vcs..self.vn0_vcs + 1,
            Class::KvData => self.vn0_vcs + 1..self.vcs(),
        }
    }
}
