//! Signals of the channels, and the place for findings on them.

use crate::cosim::checks::violation::{ViolationKind, Violations};

/// xRESP of a success.
pub const OKAY: u32 = 0;
/// xRESP of an exclusive access, which no master here uses.
pub const EXCLUSIVE_OKAY: u32 = 1;
/// xRESP of a slave that was reached and failed.
pub const SLAVE_ERROR: u32 = 2;
/// xRESP of an address without a slave.
pub const DECODE_ERROR: u32 = 3;

/// Contents of AR or AW.
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

/// Contents of R.
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

/// Contents of W.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteBeat {
    /// WDATA, little-endian.
    pub data: Vec<u32>,
    /// WSTRB, one bit per byte.
    pub strobes: u128,
    /// WLAST.
    pub last: bool,
}

/// Contents of B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteResponse {
    /// BID.
    pub id: u32,
    /// BRESP.
    pub response: u32,
}

/// A channel in one period: its contents while valid, and its ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wires<T> {
    /// Contents of the channel, if valid.
    pub shown: Option<T>,
    /// True if the receiver is ready.
    pub ready: bool,
}

impl<T> Wires<T> {
    /// The same, borrowed.
    pub fn as_ref(&self) -> Wires<&T> {
        Wires { shown: self.shown.as_ref(), ready: self.ready }
    }

    /// The contents, if the handshake takes place in this period.
    pub fn taken(&self) -> Option<&T> {
        self.shown.as_ref().filter(|_| self.ready)
    }
}

/// Agreements of masters and slaves beyond AXI4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a beat: every burst is as wide as the bus.
    pub beat_bytes: u32,
    /// Beats of the longest burst: 16 where AXI3 is behind an interconnect, as at the HBM of the U280.
    pub beats: u32,
    /// An ID is reused only after all of its requests have been answered.
    pub unique_ids: bool,
}

/// Periods of reset after which a master or slave must be silent: the length of its reset pipeline.
pub(super) const RESET_PERIODS: u64 = 16;

/// The list of findings, and the period and interface they belong to.
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

    /// Judges a valid after so many periods of reset.
    pub(super) fn in_reset(&mut self, periods: u64, shown: &[(&str, bool)]) {
        for (channel, _) in shown.iter().filter(|(_, valid)| periods > RESET_PERIODS && *valid) {
            self.add(channel, "valid is not low in reset (A3.1.2)");
        }
    }
}

/// The name of a response that is not allowed here.
pub(super) fn response_fault(response: u32) -> Option<&'static str> {
    (response == EXCLUSIVE_OKAY).then_some("the response is EXOKAY, and no access is exclusive (A7.2)")
}
