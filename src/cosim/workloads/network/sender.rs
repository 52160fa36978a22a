//! Sends packets into a network: writes the bits of their flits, and has the scoreboard expect each of them.

use crate::cosim::checks::scoreboard::{Expected, FlitScoreboard};
use crate::cosim::dut::network::{Injection, Network};
use crate::cosim::hash::mix;
use crate::cosim::tile_set::TileSet;
use crate::cosim::traffic::packet::{FlitBits, Header, Packet};
use crate::design::{Class, Design, DestKind, Mesh, Router};

/// The sending side of all tiles.
pub(super) struct Sender {
    mesh: Mesh,
    router: Router,
    dest_kind: DestKind,
    bits: FlitBits,
    packets: u64,
    // Reused for every flit.
    dest: Vec<u32>,
    head: Vec<u32>,
    data: Vec<u32>,
}

impl Sender {
    /// The sender of a network that carries so many words of a payload.
    pub(super) fn new(design: &Design, words: usize) -> Sender {
        Sender {
            mesh: design.mesh,
            router: design.router,
            dest_kind: design.flit.dest_kind,
            bits: FlitBits::new(design).carrying(words),
            packets: 0,
            dest: Vec::new(),
            head: Vec::new(),
            data: Vec::new(),
        }
    }

    /// Injects the flits of a packet, ready from the cycle of its generation. Where the routers do
    /// not multicast, every destination gets a copy of its own, one after the other.
    ///
    /// # Errors
    /// If the network's source queue cannot grow.
    pub(super) fn send(
        &mut self,
        packet: &Packet,
        board: &mut FlitScoreboard,
        network: &mut dyn Network,
    ) -> anyhow::Result<()> {
        let serial = self.packets;
        self.packets += 1;
        let slot = board.expect_packet(packet, serial);
        if self.dest_kind == DestKind::Set || packet.dests.len() == 1 {
            return self.send_copy(packet, (slot, serial), packet.dests, board, network);
        }
        let mesh = self.mesh;
        packet
            .dests
            .iter()
            .filter_map(|index| mesh.node_at(index))
            .try_for_each(|tile| self.send_copy(packet, (slot, serial), TileSet::one(tile), board, network))
    }

    fn send_copy(
        &mut self,
        packet: &Packet,
        (slot, serial): (u32, u64),
        dests: TileSet,
        board: &mut FlitScoreboard,
        network: &mut dyn Network,
    ) -> anyhow::Result<()> {
        let Packet { source, class, flits, cycle: ready_cycle, .. } = *packet;
        let vc_mask = self.vc_mask(packet, serial);
        self.bits.write_dest(&dests, &mut self.dest);
        board.expect_links(packet, &dests);
        let mut before = None;
        for index in 0..flits {
            let (tag, several) = (packet.tag.unwrap_or(serial), dests.len() > 1);
            self.bits.write_head(&Header { class, source, tag, index, flits, several }, &mut self.head);
            let key = board.expect(packet, Expected { packet: slot, index, before, dests, head: &self.head });
            before = Some(key);
            self.bits.write_data(key, &mut self.data);
            // Only PART holds its channel from flit to flit; KV flits are switched one by one.
            let last = class != Class::Part || index + 1 == flits;
            let (dest, head, data) = (&self.dest[..], &self.head[..], &self.data[..]);
            network.inject(&Injection {
                tile: source,
                class,
                vc_mask,
                ready_cycle,
                last,
                dest,
                head,
                data,
            })?;
        }
        Ok(())
    }

    /// Channels that a packet may enter on. Flits of one tag use one channel: on two they could
    /// overtake each other.
    fn vc_mask(&self, packet: &Packet, serial: u64) -> u32 {
        let vcs = self.router.vcs_of_class(packet.class);
        let all = vcs.clone().fold(0, |mask, vc| mask | 1 << vc);
        let ordered = packet.class == Class::KvData && (packet.flits > 1 || packet.tag.is_some());
        if !ordered {
            return all;
        }
        let choice = mix(packet.tag.unwrap_or(serial)) % u64::from(vcs.end - vcs.start);
        1 << (vcs.start + choice as u32)
    }
}
