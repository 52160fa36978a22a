//! What a host's program takes of its link, and how long that lasts by a model of the host.

use crate::cosim::workloads::device::{CallTimes, HostModel};
use schemars::JsonSchema;
use serde::Serialize;

/// Accesses of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Accesses {
    writes: u64,
    reads: u64,
    to_card: u64,
    from_card: u64,
    /// Bytes of transfers, to the card and from it.
    bytes: [u64; 2],
}

/// The accesses so far, and the calls by a doorbell.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    all: Accesses,
    /// Accesses before the last call.
    before: Accesses,
    calls: Vec<(CallTimes, Accesses)>,
}

/// Times of a program, in microseconds, and what it took of its link.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LinkUse {
    /// Calls by a doorbell.
    pub calls: usize,
    /// Means of a call: from the host to the card; until external memory is read; while it is; until the record has left;
    /// to the host.
    pub call_parts_us: [f64; 5],
    /// Their sum.
    pub call_us: f64,
    /// Medians of a call: writes of registers, reads of registers, transfers.
    pub call_accesses: [u64; 3],
    /// All writes of registers, reads of registers, transfers to the card, and from it.
    pub accesses: [u64; 4],
    /// Bytes of transfers to the card, and from it.
    pub transfer_bytes: [u64; 2],
    /// Time of all transfers.
    pub transfers_us: f64,
    /// Time of all accesses to registers.
    pub registers_us: f64,
}

impl Accesses {
    fn since(&self, before: &Accesses) -> Accesses {
        Accesses {
            writes: self.writes - before.writes,
            reads: self.reads - before.reads,
            to_card: self.to_card - before.to_card,
            from_card: self.from_card - before.from_card,
            bytes: [0, 1].map(|way| self.bytes[way] - before.bytes[way]),
        }
    }
}

impl Ledger {
    pub(super) fn write(&mut self) {
        self.all.writes += 1;
    }

    pub(super) fn read(&mut self) {
        self.all.reads += 1;
    }

    pub(super) fn transfer(&mut self, bytes: u64, to_card: bool) {
        match to_card {
            true => self.all.to_card += 1,
            false => self.all.from_card += 1,
        }
        self.all.bytes[usize::from(!to_card)] += bytes;
    }

    /// A call has ended, with these times.
    pub(super) fn call(&mut self, times: CallTimes) {
        self.calls.push((times, self.all.since(&self.before)));
        self.before = self.all;
    }

    /// The use of the link, by a model of the host, at the clock of the network in MHz.
    pub(super) fn told(&self, model: &HostModel, noc_mhz: f64) -> LinkUse {
        let count = self.calls.len().max(1) as f64;
        let mut means = [0.0; 5];
        for (times, _) in &self.calls {
            for (mean, part) in means.iter_mut().zip(model.parts(times, noc_mhz)) {
                *mean += part / count;
            }
        }
        let median = |of: fn(&Accesses) -> u64| {
            let mut all: Vec<u64> = self.calls.iter().map(|(_, accesses)| of(accesses)).collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or(0)
        };
        let Accesses { writes, reads, to_card, from_card, bytes } = self.all;
        LinkUse {
            calls: self.calls.len(),
            call_parts_us: means,
            call_us: means.iter().sum(),
            call_accesses: [median(|a| a.writes), median(|a| a.reads), median(|a| a.to_card + a.from_card)],
            accesses: [writes, reads, to_card, from_card],
            transfer_bytes: bytes,
            transfers_us: (to_card + from_card) as f64 * model.calls.transfer_us
                + model.transfer_us(bytes[0], true)
                + model.transfer_us(bytes[1], false)
                - 2.0 * model.calls.transfer_us,
            registers_us: (writes as f64 * model.calls.register_write_ns
                + reads as f64 * model.calls.register_read_ns)
                / 1e3,
        }
    }
}

impl LinkUse {
    /// The use in words.
    pub fn prose(&self) -> String {
        let [doorbell, before, kv, after, back] = self.call_parts_us;
        let [writes, reads, to_card, from_card] = self.accesses;
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let mut said = String::new();
        if self.calls > 0 {
            let [of_writes, of_reads, transfers] = self.call_accesses;
            said += &format!(
                "{} calls by the doorbell, {:.2} us each: {doorbell:.2} to the card, {before:.2} until external memory is read, \
                 {kv:.2} while it is, {after:.2} until the record has left, {back:.2} to the host; \
                 {of_writes} register writes, {of_reads} reads and {transfers} transfers are the median\n",
                self.calls, self.call_us
            );
        }
        said + &format!(
            "{writes} register writes and {reads} reads, {:.1} us; {to_card} transfers to the card ({:.3} MB) and {from_card} from it \
             ({:.3} MB), {:.1} us",
            self.registers_us,
            megabytes(self.transfer_bytes[0]),
            megabytes(self.transfer_bytes[1]),
            self.transfers_us
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_its_parts_and_a_prompt_its_transfers() {
        let mut ledger = Ledger::default();
        ledger.transfer(12_000, true);
        (0..3).for_each(|_| ledger.read());
        for _ in 0..3 {
            ledger.write();
            let times =
                CallTimes { rung: 0, first_read: Some(500), last_read: Some(1500), last_write: Some(1750) };
            ledger.call(times);
        }
        let told = ledger.told(&HostModel::default(), 250.0);
        assert_eq!((told.calls, told.call_accesses), (3, [1, 0, 0]));
        let [doorbell, before, kv, after, back] = told.call_parts_us;
        assert!((before - 2.0).abs() < 1e-9 && (kv - 4.0).abs() < 1e-9 && (after - 1.0).abs() < 1e-9);
        assert!(
            (doorbell - 0.6).abs() < 1e-9 && (back - 0.5).abs() < 1e-9 && (told.call_us - 8.1).abs() < 1e-9
        );
        assert!((told.transfers_us - 20.0).abs() < 1e-9, "{}", told.transfers_us);
        assert!((told.registers_us - 3.3).abs() < 1e-9, "{}", told.registers_us);
        assert!(told.prose().contains("3 calls by the doorbell, 8.10 us each"), "{}", told.prose());
    }
}
