//! The model of routers with transports behind the ports of
//! [`BuildForm::TransportPieces`](crate::cosim::build::BuildForm::TransportPieces).

use super::flits::{part, show_kv, show_part};
use super::packed::{numbers, Ports, PAYLOAD};
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::DutError;
use crate::design::{index_bits, Design, NodeId};
use crate::emit::ModuleSpec;
use crate::model::cycle::common::Reached;
use crate::model::cycle::fabric::Nodes;
use crate::model::cycle::mare::{Claim, Command, PartFlit, RootFlit, Staged, TransportIn};
use crate::model::cycle::network::Upset;

numbers! {
    cmd_valid cmd_ready cmd_tag cmd_home cmd_mask cmd_first cmd_last cmd_patient cmd_tag_busy cmd_came_valid cmd_came_tag
    kv_valid kv_ready kv_tag kv_index kv_mask kv_data compute_idle
    fill_valid fill_addr fill_data claim_valid claim_slot claim_tag claim_last claim_expected claim_known
    publish_valid publish_slot complete_valid complete_slot stream_valid stream_slot stream_flit stream_pending
    freed_valid freed_slot
    part_valid part_ready part_first part_last part_others part_id part_data
    root_valid root_credit root_first root_last root_others root_id root_x root_y root_data data_sent data_credit
    vc_busy stat_index stat_data event_index event_data
}

/// The model of routers and transports behind packed ports.
#[derive(Debug)]
pub struct NodePorts {
    design: Design,
    nodes: Nodes,
    ports: Ports,
    at: Numbers,
    /// By tile, of the tags in the last period: whether a range is in progress, and whether a slice has a slot.
    named: Vec<[bool; 2]>,
}

impl NodePorts {
    /// The model with the ports of `top`.
    pub fn new(design: &Design, top: &ModuleSpec) -> NodePorts {
        let ports = Ports::of(top, design);
        let at = Numbers::of(&ports);
        let named = vec![[false; 2]; design.mesh.tiles()];
        NodePorts { design: design.clone(), nodes: Nodes::new(design), ports, at, named }
    }

    fn tiles(&self) -> usize {
        self.design.mesh.tiles()
    }

    fn command(&self, tile: usize) -> Option<Command> {
        let (at, ports) = (self.at, &self.ports);
        if !ports.bit(at.cmd_valid, tile) {
            return None;
        }
        let (home, x_bits) = (ports.get32(at.cmd_home, tile), index_bits(self.design.mesh.cols()));
        Some(Command {
            tag: ports.get(at.cmd_tag, tile),
            x: home & ((1 << x_bits) - 1),
            y: home >> x_bits,
            mask: ports.get(at.cmd_mask, tile),
            first: ports.get32(at.cmd_first, tile),
            last: ports.get32(at.cmd_last, tile),
            patient: ports.bit(at.cmd_patient, tile),
        })
    }

    fn staged(&self, tile: usize) -> Staged {
        let (at, ports) = (self.at, &self.ports);
        let fill = || (ports.get32(at.fill_addr, tile), ports.get(at.fill_data, tile));
        let claim = || Claim {
            slot: ports.get32(at.claim_slot, tile),
            tag: ports.get(at.claim_tag, tile),
            last: ports.get32(at.claim_last, tile),
            expected: ports.get32(at.claim_expected, tile),
        };
        Staged {
            fill: ports.bit(at.fill_valid, tile).then(fill),
            part: None,
            claim: ports.bit(at.claim_valid, tile).then(claim),
            publish: ports.bit(at.publish_valid, tile).then(|| ports.get32(at.publish_slot, tile)),
            complete: ports.bit(at.complete_valid, tile).then(|| ports.get32(at.complete_slot, tile)),
            pending: ports.bit(at.stream_pending, tile),
        }
    }

    /// Reads a flit of PART; its head, layer and stream are one port here.
    fn part(&self, tile: usize) -> Option<PartFlit> {
        let (at, ports) = (self.at, &self.ports);
        let id = ports.get(at.part_id, tile);
        let [stream, layer, head] =
            self.part_fields().map(|(offset, width)| (id >> offset) as u32 & ((1 << width) - 1));
        ports.bit(at.part_valid, tile).then(|| PartFlit {
            stream,
            layer,
            head,
            ..part(ports, [at.part_first, at.part_last, at.part_others, at.part_data], tile)
        })
    }

    /// Lowest bit and width of stream, layer and head in their common port.
    fn part_fields(&self) -> [(u32, u32); 3] {
        let fields = &self.design.flit.part;
        let first = fields.iter().find(|field| field.name == "stream").map_or(0, |field| field.offset);
        ["stream", "layer", "head"].map(|name| {
            let field = fields.iter().find(|field| field.name == name);
            field.map_or((0, 0), |field| (field.offset - first, field.width))
        })
    }

    /// Sets the outputs that depend on registers and on inputs of the period.
    fn show_registers(&mut self) {
        let at = self.at;
        for tile in 0..self.tiles() {
            self.ports.put(at.vc_busy, tile, self.nodes.network().busy(tile));
            let transport = &self.nodes.transports()[tile];
            let (requester, home) = (transport.requester(), transport.home());
            let (came, freed, reads) = (requester.came(), home.freed(), home.reads());
            let busy = requester.is_busy_with(self.ports.get(at.cmd_tag, tile));
            let known = home.knows(self.ports.get(at.claim_tag, tile));
            let [busy, known] = std::mem::replace(&mut self.named[tile], [busy, known]);
            self.ports.put(at.cmd_tag_busy, tile, busy);
            self.ports.put(at.cmd_came_valid, tile, came.is_some());
            self.ports.put(at.cmd_came_tag, tile, came.unwrap_or(0));
            self.ports.put(at.claim_known, tile, known);
            self.ports.put(at.freed_valid, tile, freed.is_some());
            self.ports.put(at.freed_slot, tile, freed.unwrap_or(0));
            let (slot, flit) = reads.unwrap_or_default();
            self.ports.put(at.stream_valid, tile, reads.is_some());
            self.ports.put(at.stream_slot, tile, slot);
            self.ports.put(at.stream_flit, tile, flit);
        }
    }

    fn show_root(&mut self, tile: usize, root: &RootFlit) {
        let (at, part) = (self.at, &root.part);
        let fields = self.part_fields().into_iter().zip([part.stream, part.layer, part.head]);
        let id = fields.fold(0, |id, ((offset, _), value)| id | u64::from(value) << offset);
        let flags = [at.root_first, at.root_last, at.root_others, at.root_data];
        show_part(&mut self.ports, flags, tile, part);
        self.ports.put(at.root_id, tile, id);
        self.ports.put(at.root_x, tile, root.x);
        self.ports.put(at.root_y, tile, root.y);
    }

    fn show(&mut self) {
        let at = self.at;
        for tile in 0..self.tiles() {
            let shown = self.nodes.shown()[tile];
            self.ports.put(at.data_sent, tile, shown.out.data_sent);
            self.ports.put(at.data_credit, tile, shown.out.data_credit);
            if let Some(root) = &shown.out.root {
                self.show_root(tile, root);
            }
            self.ports.put(at.cmd_ready, tile, shown.out.command_ready);
            self.ports.put(at.part_ready, tile, shown.out.part_ready);
            self.ports.put(at.root_valid, tile, shown.out.root.map_or(0, |root| root.valid));
            self.ports.put(at.event_data, tile, shown.event.1);
            self.ports.put(at.stat_data, tile, self.nodes.network().counters()[tile]);
            let kv = [at.kv_valid, at.kv_tag, at.kv_index, at.kv_mask, at.kv_data];
            show_kv(&mut self.ports, kv, tile, shown.kv.as_ref());
        }
        self.ports.put(at.event_index, 0, self.nodes.shown()[0].event.0 as u64);
        self.ports.put(at.stat_index, 0, self.nodes.network().counter_shown() as u64);
    }
}

impl DutPorts for NodePorts {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.ports.find(name)
    }

    fn words(&self, port: usize, _bits: u32) -> &[u32] {
        self.ports.words(port)
    }

    fn words_mut(&mut self, port: usize, _bits: u32) -> &mut [u32] {
        self.ports.words_mut(port)
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        if rst {
            if self.nodes.cycle() > 0 {
                self.nodes = Nodes::new(&self.design);
            }
            return Ok(());
        }
        let at = self.at;
        self.show_registers();
        let commands: Vec<_> = (0..self.tiles()).map(|tile| (self.command(tile), self.part(tile))).collect();
        let inputs: Vec<_> = (0..self.tiles())
            .map(|tile| TransportIn {
                command: commands[tile].0.as_ref(),
                staged: self.staged(tile),
                kv_ready: self.ports.bit(at.kv_ready, tile),
                compute_idle: self.ports.bit(at.compute_idle, tile),
                part: commands[tile].1.as_ref(),
                root_credit: self.ports.get32(at.root_credit, tile),
                ..TransportIn::default()
            })
            .collect();
        self.nodes.step(&inputs);
        self.show();
        Ok(())
    }

    fn upset(&mut self, tile: NodeId, upset: Upset) -> Result<(), DutError> {
        self.nodes.network_mut().upset(tile, upset);
        Ok(())
    }

    fn reached(&self) -> Option<Reached> {
        Some(self.nodes.reached())
    }

    fn payload_bits(&self) -> u32 {
        PAYLOAD
    }
}
