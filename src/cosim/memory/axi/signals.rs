//! Signals of the channels, and where findings on them go.

use crate::cosim::checks::violation::{ViolationKind, Violations};

/// xRESP of what is as it should be.
pub const OKAY: u32 = 0;
/// Of an exclusive access, which nobody here asks for.
pub const EXCLUSIVE_OKAY: u32 = 1;
/// The slave was reached, and failed.
pub const SLAVE_ERROR: u32 = 2;
/// There is no slave at the address.
pub const DECODE_ERROR: u32 = 3;

/// What AR or AW carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// AxID.
    pub id: u32,
    /// AxADDR.
    pub address: u64,
    /// AxLEN: beats less one.
    pub len: u32,
    /// AxSIZE: log2 of the bytes of a beat.
    pub size: u32,
    /// AxBURST.
    pub burst: u32,
}

/// What R carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    /// RID.
    pub id: u32,
    /// RRESP.
    pub response: u32,
    /// RLAST.
    pub last: bool,
    /// RDATA, little-endian.
    pub data: Vec<u32>,
}

/// What W carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteBeat {
    /// WDATA, little-endian.
    pub data: Vec<u32>,
    /// WSTRB, a bit a byte.
    pub strobes: u128,
    /// WLAST.
    pub last: bool,
}

/// What B carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteResponse {
    /// BID.
    pub id: u32,
    /// BRESP.
    pub response: u32,
}

/// A channel in one period: what is shown with valid, and whether it is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wires<T> {
    /// What stands there, if valid.
    pub shown: Option<T>,
    /// The other side takes it in this period.
    pub ready: bool,
}

impl<T> Wires<T> {
    /// The same, borrowed.
    pub fn as_ref(&self) -> Wires<&T> {
        Wires { shown: self.shown.as_ref(), ready: self.ready }
    }

    /// What passes in this period.
    pub fn taken(&self) -> Option<&T> {
        self.shown.as_ref().filter(|_| self.ready)
    }
}

/// What masters and slaves agree on beyond AXI4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a beat: every burst is as wide as the bus.
    pub beat_bytes: u32,
    /// Beats of the longest burst: 16 where AXI3 is behind an interconnect, as at the HBM of the U280.
    pub beats: u32,
    /// An ID is used again only when all of what it was used for has been answered.
    pub unique_ids: bool,
}

/// Periods after which a master or slave in reset shows nothing any more: the registers of its reset.
pub(super) const RESET_PERIODS: u64 = 16;

/// Where findings go, and what they are said of.
pub(super) struct Findings<'a> {
    pub(super) cycle: u64,
    pub(super) interface: &'a str,
    pub(super) violations: &'a mut Violations,
}

impl Findings<'_> {
    pub(super) fn add(&mut self, channel: &str, rule: impl std::fmt::Display) {
        let (cycle, interface) = (self.cycle, self.interface);
        let message = || format!("cycle {cycle}: {interface} {channel}: {rule}");
        self.violations.add(ViolationKind::Protocol, message);
    }

    /// Judges what is shown after so many periods of reset.
    pub(super) fn in_reset(&mut self, periods: u64, shown: &[(&str, bool)]) {
        for (channel, _) in shown.iter().filter(|(_, valid)| periods > RESET_PERIODS && *valid) {
            self.add(channel, "valid is not low in reset (A3.1.2)");
        }
    }
}

/// The name of a response that nobody may give here.
pub(super) fn response_fault(response: u32) -> Option<&'static str> {
    (response == EXCLUSIVE_OKAY).then_some("the response is EXOKAY, and no access is exclusive (A7.2)")
}
