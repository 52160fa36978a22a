//! The outputs of all routers on their links in one period, in the same layout for both sides.
//!
//! The layout is that of `meshkv_links` in `sim/shim.h`: a record for each tile and port.

use super::difference::{field, Place};
use crate::cosim::dut::model_mesh::ModelMesh;
use crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use crate::cosim::dut::DutError;
use crate::cosim::tile_set::TileSet;
use crate::design::{index_bits, Design, DestKind, Mesh, Port};
use crate::model::cycle::network::Flit;

/// Fields of the first word of a record: lowest bit and name.
const VALID: (u32, &str) = (0, "valid");
const AHEAD: (u32, &str) = (8, "ahead");
const CREDIT: (u32, &str) = (16, "credit");

/// Records of both sides.
#[derive(Debug)]
pub(super) struct Links {
    mesh: Mesh,
    kind: DestKind,
    /// Words of a record, and of a header.
    words: usize,
    head_words: usize,
    /// Tiles of all columns but the first, and but the last: the others are behind a flit on its
    /// way east, or west.
    east: [u64; 4],
    west: [u64; 4],
    rtl: Vec<u32>,
    model: Vec<u32>,
}

impl Links {
    /// Records for the links of `dut`.
    pub(super) fn new(design: &Design, dut: &VerilatedMesh) -> Result<Links, DutError> {
        let (mesh, words) = (design.mesh, dut.link_words());
        let without = |column: u32| {
            let mut set = [0; 4];
            for node in mesh.nodes().filter(|&node| mesh.coords(node).0 != column) {
                set[node.index() / 64] |= 1 << (node.index() % 64);
            }
            set
        };
        let all = vec![0; mesh.tiles() * Port::ALL.len() * words];
        let mut links = Links {
            mesh,
            kind: design.flit.dest_kind,
            words,
            head_words: design.flit.head_width.div_ceil(32) as usize,
            east: without(0),
            west: without(mesh.cols() - 1),
            rtl: all.clone(),
            model: all,
        };
        match dut.links(&mut links.rtl) {
            true => Ok(links),
            false => Err(DutError::Mismatch("its links cannot be seen; lockstep needs one tile".to_owned())),
        }
    }

    /// The first difference in the next period: its place, and both values.
    pub(super) fn compare(
        &mut self,
        dut: &VerilatedMesh,
        model: &ModelMesh,
    ) -> Option<(Place, String, String)> {
        dut.links(&mut self.rtl);
        self.of_model(model);
        if self.rtl == self.model {
            return None;
        }
        let of_tile = Port::ALL.len() * self.words;
        let tile = self.rtl.iter().zip(&self.model).position(|(a, b)| a != b)? / of_tile;
        let node = self.mesh.node_at(tile)?;
        // An output is the result of a decision, an input's credit only a consequence: outputs come
        // first.
        let fields = |credits: bool| {
            Port::ALL.into_iter().find_map(|port| self.field(tile, port, credits).map(|field| (port, field)))
        };
        let (port, (name, rtl, model)) = fields(false).or_else(|| fields(true))?;
        Some((Place::Link(node, port, name), rtl, model))
    }

    /// The first field of a port that differs, of its flit or of its credits, and both values.
    fn field(&self, tile: usize, port: Port, credits: bool) -> Option<(&'static str, String, String)> {
        let at = (tile * Port::ALL.len() + port.index()) * self.words;
        let [rtl, model] = [&self.rtl, &self.model].map(|all| &all[at..at + self.words]);
        let first: &[_] = if credits { &[CREDIT] } else { &[VALID, AHEAD] };
        let bits = first.iter().map(|&(shift, name)| {
            let [a, b] = [rtl, model].map(|record| format!("{:#b}", record[0] >> shift & 0xff));
            (name, a, b)
        });
        let split = 1 + self.head_words;
        let words = [("head", 1..split), ("destination", split..self.words)].map(|(name, range)| {
            let [a, b] = [rtl, model].map(|record| field(&record[range.clone()]));
            (name, a, b)
        });
        let words = words.into_iter().filter(|_| !credits);
        bits.chain(words).find(|(_, rtl, model)| rtl != model)
    }

    /// Writes the model's records.
    fn of_model(&mut self, model: &ModelMesh) {
        let routers = model.routers();
        self.model.fill(0);
        for (node, input, vc, flit) in routers.links() {
            // The receiver's input is opposite the sender's output.
            let Some(sender) = self.mesh.neighbour(node, input) else { continue };
            let output = input.opposite();
            let ahead = self.goes_on(self.mesh.coords(node).0, output, flit);
            let dest = self.dest(self.mesh.coords(sender).0, output, flit);
            let first = 1 << (VALID.0 + vc) | u32::from(ahead) << AHEAD.0;
            self.write(sender.index(), output, first, model.head(flit), dest);
        }
        for shown in routers.shown() {
            self.write(shown.tile, Port::Local, 1 << (VALID.0 + shown.vc), model.head(shown.flit), [0; 4]);
        }
        for (tile, input, vc) in routers.all_credits() {
            let at = (tile * Port::ALL.len() + input.index()) * self.words;
            self.model[at] |= 1 << (CREDIT.0 + vc);
        }
    }

    fn write(&mut self, tile: usize, port: Port, first: u32, head: &[u32], dest: [u64; 4]) {
        let at = (tile * Port::ALL.len() + port.index()) * self.words;
        let record = &mut self.model[at..at + self.words];
        record[0] |= first;
        let (heads, dests) = record[1..].split_at_mut(self.head_words);
        heads.copy_from_slice(head);
        let words = |i: usize| (dest[i / 2] >> (32 * (i % 2))) as u32;
        dests.iter_mut().enumerate().for_each(|(i, word)| *word = words(i));
    }

    /// True if a flit that comes along the row to column `x` continues beyond it.
    fn goes_on(&self, x: u32, output: Port, flit: &Flit) -> bool {
        let beyond = |column: u32| match output {
            Port::East => column > x,
            Port::West => column < x,
            _ => false,
        };
        match self.kind {
            DestKind::Coord => beyond(self.coords(flit).0),
            DestKind::Set => {
                TileSet::of_bits(flit.dest).iter().any(|tile| beyond(tile as u32 % self.mesh.cols()))
            }
        }
    }

    /// Destination bits on the link from an output in column `x`.
    fn dest(&self, x: u32, output: Port, flit: &Flit) -> [u64; 4] {
        let column = matches!(output, Port::North | Port::South);
        match (self.kind, column) {
            (DestKind::Coord, true) => [u64::from(self.coords(flit).1), 0, 0, 0],
            (DestKind::Coord, false) => flit.dest,
            (DestKind::Set, true) => {
                let set = TileSet::of_bits(flit.dest);
                let own = set.iter().filter(|&tile| tile as u32 % self.mesh.cols() == x);
                let rows = own.fold(0, |rows, tile| rows | 1 << (tile as u32 / self.mesh.cols()));
                [rows, 0, 0, 0]
            }
            (DestKind::Set, false) => {
                let set = if output == Port::East { &self.east } else { &self.west };
                std::array::from_fn(|i| flit.dest[i] & set[i])
            }
        }
    }

    fn coords(&self, flit: &Flit) -> (u32, u32) {
        let bits = index_bits(self.mesh.cols());
        let dest = flit.dest[0] as u32;
        (dest & ((1 << bits) - 1), dest >> bits)
    }
}
