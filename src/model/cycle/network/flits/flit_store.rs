//! Store of all flits in the network. Routers exchange only the number of a flit.
//!
//! A multicast flit is one record with a count of the links and slots that hold it. The record never changes,
//! because destination bits that the Verilog masks off on the way lie behind the flit.

use crate::design::{index_bits, Design, DestKind};
use crate::model::cycle::network::flits::flit::Flit;

/// Destination of a flit in the form that routing needs.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::network) struct Target {
    /// Columns with a tile of the set.
    pub(in crate::model::cycle::network) cols: u16,
    /// Rows of the set, if it lies in one column.
    rows: u16,
    /// Links and slots that hold a copy.
    copies: u16,
    /// Bit 0 of the header: last flit of a PART packet.
    pub(in crate::model::cycle::network) last: bool,
}

/// Rows of a set, by column. Only entries of the set's columns are valid.
type Rows = [u16; 16];

/// All records. Freed records are reused, so steady traffic allocates nothing.
#[derive(Debug)]
pub(in crate::model::cycle::network) struct FlitStore {
    kind: DestKind,
    /// (x, y) by tile.
    places: Vec<(u8, u8)>,
    cols: u32,
    targets: Vec<Target>,
    /// Rows of sets that span several columns.
    rows: Vec<Rows>,
    flits: Vec<Flit>,
    free: Vec<u32>,
}

impl FlitStore {
    pub(in crate::model::cycle::network) fn new(design: &Design) -> FlitStore {
        let mesh = design.mesh;
        let place = |node| {
            let (x, y) = mesh.coords(node);
            (x as u8, y as u8)
        };
        FlitStore {
            kind: design.flit.dest_kind,
            places: mesh.nodes().map(place).collect(),
            cols: mesh.cols(),
            targets: Vec::new(),
            rows: Vec::new(),
            flits: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Stores a flit with one copy and returns its number.
    ///
    /// # Panics
    /// If its destination is outside the mesh.
    pub(in crate::model::cycle::network) fn insert(&mut self, flit: &Flit) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.targets.push(Target::default());
            self.rows.push(Rows::default());
            self.flits.push(Flit::default());
            (self.targets.len() - 1) as u32
        });
        self.flits[slot as usize] = *flit;
        let (target, rows) = (&mut self.targets[slot as usize], &mut self.rows[slot as usize]);
        *target = Target { cols: 0, rows: 0, copies: 1, last: flit.head & 1 == 1 };
        let mut add = |(x, y): (u8, u8)| {
            let rows = &mut rows[usize::from(x)];
            *rows = if target.cols >> x & 1 == 1 { *rows | 1 << y } else { 1 << y };
            target.cols |= 1 << x;
            target.rows = *rows;
        };
        match self.kind {
            DestKind::Set => {
                for (w, word) in flit.dest.into_iter().enumerate() {
                    let mut left = word;
                    while left != 0 {
                        add(self.places[w * 64 + left.trailing_zeros() as usize]);
                        left &= left - 1;
                    }
                }
            }
            DestKind::Coord => {
                let bits = index_bits(self.cols);
                let (x, y) = (flit.dest[0] & ((1 << bits) - 1), flit.dest[0] >> bits);
                add(self.places[(y * u64::from(self.cols) + x) as usize]);
            }
        }
        slot
    }

    #[inline(always)]
    pub(in crate::model::cycle::network) fn target(&self, slot: u32) -> &Target {
        &self.targets[slot as usize]
    }

    /// Returns the rows of a flit's set in one column.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn rows(&self, slot: u32, target: &Target, x: u8) -> u16 {
        let rows = if target.cols & target.cols.wrapping_sub(1) == 0 {
            target.rows
        } else {
            self.rows[slot as usize][usize::from(x & 15)]
        };
        rows & (target.cols >> x & 1).wrapping_neg()
    }

    pub(in crate::model::cycle::network) fn flit(&self, slot: u32) -> &Flit {
        &self.flits[slot as usize]
    }

    /// Replaces one copy by a copy for each of `to`, and one more if `kept`.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn spread(&mut self, slot: u32, to: u8, kept: bool) {
        // Most flits leave one slot for one link.
        if to & to.wrapping_sub(1) != 0 || kept == (to != 0) {
            self.targets[slot as usize].copies += to.count_ones() as u16 + u16::from(kept) - 1;
        }
    }

    /// Drops a copy that has reached its tile.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn arrived(&mut self, slot: u32) {
        let copies = &mut self.targets[slot as usize].copies;
        *copies -= 1;
        if *copies == 0 {
            self.free.push(slot);
        }
    }

    /// Flits in the network.
    pub(in crate::model::cycle::network) fn len(&self) -> usize {
        self.targets.len() - self.free.len()
    }

    /// Removes all flits.
    pub(in crate::model::cycle::network) fn clear(&mut self) {
        self.targets.clear();
        self.rows.clear();
        self.flits.clear();
        self.free.clear();
    }
}
