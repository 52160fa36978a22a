//! Finds the violation behind an unexpected flit, or at the end of a run, and words its message.

use super::records::{slot_of, FlitRecord, PacketRecord, SLOT_BITS};
use super::FlitScoreboard;
use crate::cosim::checks::violation::ViolationKind;
use crate::cosim::dut::network::{Ejection, Network};
use crate::cosim::traffic::packet::Packet;
use crate::design::{Class, NodeId};

impl FlitScoreboard {
    /// Reports a payload without a record: a repeated old flit, or bits that were never sent.
    pub(super) fn unknown(&mut self, e: &Ejection<'_>, key: u64, slot: u32) {
        self.bits.write_data(key, &mut self.data);
        let once_sent = key >> SLOT_BITS < self.sent_flits && (slot as usize) < self.flits.slots();
        let (kind, what) = if once_sent && self.data == e.data {
            (ViolationKind::Duplicate, "came again after it had reached its whole set")
        } else {
            (ViolationKind::Corrupt, "is none that was sent")
        };
        self.violation(kind, |board| format!("{}: flit {key:#x} {what}", board.place(e)));
    }

    /// Header with which the flit of this key was sent.
    fn head_of(&self, key: u64) -> &[u32] {
        let words = self.bits.words()[1];
        &self.heads[slot_of(key) as usize * words..][..words]
    }

    /// True if a flit came with every bit that was sent.
    pub(super) fn is_intact(&self, e: &Ejection<'_>, flit: &FlitRecord) -> bool {
        self.bits.is_data(flit.key, e.data) && self.head_of(flit.key) == e.head
    }

    pub(super) fn check_bits(&mut self, e: &Ejection<'_>, flit: &FlitRecord) {
        self.bits.write_data(flit.key, &mut self.data);
        let differs = match first_difference(self.head_of(flit.key), e.head) {
            Some(bit) => Some(("head", bit)),
            None => first_difference(&self.data, e.data).map(|bit| ("payload", bit)),
        };
        if let Some((name, bit)) = differs {
            self.violation(ViolationKind::Corrupt, |board| {
                board.describe(e, flit, &format!("has {name} bit {bit} inverted"))
            });
        }
    }

    pub(super) fn check_order(&mut self, e: &Ejection<'_>, flit: &FlitRecord, packet: &Packet, serial: u64) {
        if packet.class == Class::Part {
            let channel = self.channel(e);
            let open = &mut self.open[channel];
            let (expected, index) = (*open, flit.index);
            *open = (index + 1 < packet.flits).then_some((serial, index + 1));
            match expected {
                None if index == 0 => {}
                Some((packet, next)) if packet == serial && next == index => {}
                Some((packet, _)) if packet != serial => self
                    .violation(ViolationKind::Interleaved, |board| {
                        board.describe(e, flit, &format!("stands inside packet {packet}"))
                    }),
                _ => self.violation(ViolationKind::OutOfOrder, |board| {
                    board.describe(e, flit, "does not follow the flit before it")
                }),
            }
            return;
        }
        let overtook = flit.before.is_some_and(|before| {
            let record = self.flits.get_mut(slot_of(before)).filter(|record| record.key == before);
            record.is_some_and(|record| record.left.contains(e.tile.index()))
        });
        // Packets of one tag are ordered too; only a trace can ask for that.
        let late = packet.tag.is_some_and(|tag| {
            let last = self.tagged.entry((packet.source, e.tile, tag)).or_insert(flit.key);
            let late = *last > flit.key;
            *last = flit.key.max(*last);
            late && packet.class == Class::KvData
        });
        if overtook || late {
            self.violation(ViolationKind::OutOfOrder, |board| {
                board.describe(e, flit, "came before or after another flit of its tag that it must not pass")
            });
        }
    }

    /// Checks the end of a run: no flit under way or in a buffer, all credits home. `link_flits` is
    /// the network's count of flits on links between routers since the first packet.
    pub fn finish(&mut self, network: &dyn Network, link_flits: u64) {
        let lost: Vec<(FlitRecord, NodeId)> = self
            .flits
            .iter()
            .flat_map(|flit| flit.left.iter().map(move |index| (*flit, index)))
            .filter_map(|(flit, index)| Some((flit, self.mesh.node_at(index)?)))
            .collect();
        for (flit, tile) in &lost {
            let (x, y) = self.mesh.coords(*tile);
            self.violation(ViolationKind::Lost, |board| {
                format!("{} never came to tile ({x}, {y})", board.name(flit))
            });
        }
        for (node, port, vc) in network.busy_vcs() {
            let (x, y) = self.mesh.coords(node);
            self.violation(ViolationKind::Stuck, |_| {
                format!("router ({x}, {y}), input {}, VC {vc} still holds a flit at the end", port.name())
            });
        }
        if !network.credits_home() {
            self.violation(ViolationKind::Credits, |_| {
                "a sender has not all its credits back at the end".to_owned()
            });
        }
        // A flit that is lost or duplicated changes the count; it has been reported above.
        let expected = self.expected_links;
        if self.violations.count == 0 && link_flits != expected {
            self.violation(ViolationKind::Links, |_| {
                format!("links carried {link_flits} flits, and the trees of what was sent have {expected}")
            });
        }
    }

    pub(super) fn violation(&mut self, kind: ViolationKind, message: impl FnOnce(&FlitScoreboard) -> String) {
        let mut violations = std::mem::take(&mut self.violations);
        violations.add(kind, || message(self));
        self.violations = violations;
    }

    fn place(&self, e: &Ejection<'_>) -> String {
        let (x, y) = self.mesh.coords(e.tile);
        format!("cycle {}, tile ({x}, {y}), VC {}", e.cycle, e.vc)
    }

    fn name(&self, flit: &FlitRecord) -> String {
        let Some(PacketRecord { packet, serial, .. }) = self.packets.get(flit.packet) else {
            return format!("flit {:#x}", flit.key);
        };
        let (x, y) = self.mesh.coords(packet.source);
        format!(
            "{} flit {:#x} ({} of {} of packet {serial}, sent by ({x}, {y}) in cycle {})",
            packet.class.name(),
            flit.key,
            flit.index + 1,
            packet.flits,
            packet.cycle
        )
    }

    pub(super) fn describe(&self, e: &Ejection<'_>, flit: &FlitRecord, what: &str) -> String {
        format!("{}: {} {what}", self.place(e), self.name(flit))
    }
}

/// The lowest bit in which two bit strings differ; a missing word counts as its first bit.
fn first_difference(sent: &[u32], came: &[u32]) -> Option<usize> {
    if sent == came {
        return None;
    }
    let word = (0..sent.len().max(came.len())).find(|&w| sent.get(w) != came.get(w))?;
    let bit = match (sent.get(word), came.get(word)) {
        (Some(a), Some(b)) => (a ^ b).trailing_zeros() as usize,
        _ => 0,
    };
    Some(word * 32 + bit)
}
