//! The doorbell, the record that ends its run, and the times of a call at the pins.

use crate::design::device::registers::named;

/// The record of a run, as the device writes it into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Cycles of the run.
    pub cycles: u64,
    /// Value of `ERROR_INFO`.
    pub info: u32,
    /// Value of `ERROR`.
    pub error: u32,
    /// Number of the run, as `RUNS` counts it.
    pub run: u32,
}

impl Record {
    /// Reads it from its bytes.
    pub(super) fn of(bytes: &[u8]) -> Record {
        let word = |at: usize| u32::from_le_bytes(bytes[4 * at..][..4].try_into().expect("four bytes"));
        Record {
            cycles: u64::from(word(1)) << 32 | u64::from(word(0)),
            info: word(2),
            error: word(6),
            run: word(7),
        }
    }
}

/// Cycles of a call at the pins of the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallTimes {
    /// The doorbell was taken.
    pub rung: u64,
    /// The first address to external memory was offered.
    pub first_read: Option<u64>,
    /// The last beat of external memory came.
    pub last_read: Option<u64>,
    /// The last beat of outputs or record was taken.
    pub last_write: Option<u64>,
}

impl CallTimes {
    /// Takes a cycle: whether the doorbell is taken, an address offered, a beat of memory comes, and a beat is written.
    pub(in crate::cosim::workloads::device) fn see(
        &mut self,
        cycle: u64,
        [rings, asks, reads, writes]: [bool; 4],
    ) {
        if rings {
            *self = CallTimes { rung: cycle, ..CallTimes::default() };
        }
        if asks {
            self.first_read.get_or_insert(cycle);
        }
        if reads {
            self.last_read = Some(cycle);
        }
        if writes {
            self.last_write = Some(cycle);
        }
    }
}

/// What a doorbell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doorbell {
    /// Descriptors that the run takes.
    pub count: u32,
    /// The slot of the list that has them.
    pub slot: u32,
    /// Streams whose queries it loads.
    pub streams: u32,
    /// It loads new tokens of as many caches.
    pub tokens: bool,
}

impl Doorbell {
    /// The word of the register.
    pub fn word(&self) -> u32 {
        let values = [self.count, self.slot, self.streams, u32::from(self.tokens)];
        named("DOORBELL").fields.iter().zip(values).fold(0, |all, (field, value)| all | value << field.lsb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_timed_from_its_doorbell() {
        let mut times = CallTimes::default();
        for (cycle, seen) in [
            (3, [false, true, true, true]),
            (5, [true, false, false, false]),
            (9, [false, true, false, false]),
            (11, [false, true, true, false]),
            (20, [false, false, true, false]),
            (30, [false, false, false, true]),
            (34, [false, false, false, true]),
        ] {
            times.see(cycle, seen);
        }
        assert_eq!(
            times,
            CallTimes { rung: 5, first_read: Some(9), last_read: Some(20), last_write: Some(34) }
        );
    }

    #[test]
    fn a_record_has_its_words_in_their_order() {
        let bytes: Vec<u8> =
            [7, 1, 0x20_0012, 0, 0, 0, 1 << 18, 5].into_iter().flat_map(u32::to_le_bytes).collect();
        let record = Record::of(&bytes);
        assert_eq!(record, Record { cycles: 7 + (1 << 32), info: 0x20_0012, error: 1 << 18, run: 5 });
    }

    #[test]
    fn a_doorbell_is_packed_by_its_fields() {
        let bell = Doorbell { count: 3, slot: 5, streams: 8, tokens: true };
        assert_eq!(bell.word(), 3 | 5 << 6 | 8 << 16 | 1 << 31);
    }
}
