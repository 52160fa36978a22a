//! Port between a tile and its router: arbitrates sending and distributes arriving flits
//! (`meshkv_tile_port`).

use super::messages::{Arrival, Fetch, PartFlit, RootFlit};
use super::params::{low_bits, MareParams};
use crate::kernels::cells::eager_fork;
use crate::model::cycle::common::{lowest, meet, only, several, some, without, TileBits};
use crate::model::cycle::mare::home::slice_streamer::Streamed;
use crate::model::cycle::network::Flit;

/// Flit with its virtual channel.
pub type Sent = (u32, Flit);

/// Inputs of the port in a period.
#[derive(Debug, Clone, Copy)]
pub struct PortIn<'a> {
    /// Flit from the router.
    pub rx: Option<Sent>,
    /// Slots freed in the router's local input, one bit a virtual channel.
    pub tx_credit: u32,
    /// Flit of the home.
    pub data: Option<&'a Streamed>,
    /// Fetch of the requester.
    pub fetch: Option<&'a Fetch>,
    /// Flit of a partial result.
    pub part: Option<&'a PartFlit>,
}

/// Decisions of a period.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice {
    /// The tile takes the home's flit, or its copy of it.
    pub keeps: bool,
    /// The copy for other tiles is sent.
    pub leaves: bool,
    /// The home's flit is done.
    pub data_ready: bool,
    /// If not: the ways it has gone already, into the tile and out of it.
    pub data_gone: [bool; 2],
    /// The fetch is sent.
    pub fetches: bool,
    /// The fetch is for this tile's own home.
    pub own_fetch: bool,
    /// A flit of PART is sent.
    pub parts: bool,
    /// A flit of PART stays in the tile.
    pub own_part: bool,
}

/// Class that may send in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    Data,
    Part,
    Fetch,
}

/// Credits, round-robin state, and registers of the link.
#[derive(Debug, Clone)]
pub struct TilePort {
    params: MareParams,
    x: u32,
    y: u32,
    here: TileBits,
    credits: Box<[u32]>,
    /// Free slots of the root's buffer for its own tile.
    own_room: u32,
    kept: bool,
    left: bool,
    part_vc: u32,
    /// Sender of this period, chosen in the last.
    turn: Sender,
    /// PART was the last that was chosen of it and KV_FETCH.
    fetch_first: bool,
    tx: Option<Sent>,
    rx_credit: u32,
}

impl TilePort {
    /// Creates the port of the tile at (x, y).
    pub fn new(params: &MareParams, x: u32, y: u32) -> TilePort {
        TilePort {
            params: *params,
            x,
            y,
            here: only(params.tile(x, y)),
            credits: vec![params.vc_depth; params.vcs as usize].into_boxed_slice(),
            own_room: params.vc_depth,
            kept: false,
            left: false,
            part_vc: 0,
            turn: Sender::Data,
            fetch_first: false,
            tx: None,
            rx_credit: 0,
        }
    }

    /// Flit to the router: a register.
    pub fn tx(&self) -> Option<&Sent> {
        self.tx.as_ref()
    }

    /// Slots freed for the router, one bit a virtual channel: a register.
    pub fn rx_credit(&self) -> u32 {
        self.rx_credit
    }

    /// Arbitrates this period and updates the round-robin state.
    pub fn choose(&mut self, input: &PortIn) -> Choice {
        let params = &self.params;
        let rx_vc = input.rx.map(|(vc, _)| vc);
        let rx_data = rx_vc.is_some_and(|vc| vc > params.vn0_vcs);
        let rx_part = rx_vc.is_some_and(|vc| vc < params.vn0_vcs);
        let mut choice = Choice::default();
        let (mut to_self, mut to_others, mut wants_net) = (false, false, false);
        if let Some(data) = input.data {
            to_self = meet(&data.dest, &self.here);
            to_others = some(&without(&data.dest, &self.here));
            choice.keeps = to_self && !self.kept && !rx_data;
            wants_net = to_others && !self.left && self.credits[self.data_vc(data.key) as usize] > 0;
        }
        choice.own_fetch = input.fetch.is_some_and(|f| (f.x, f.y) == (self.x, self.y));
        let wants_fetch =
            input.fetch.is_some() && !choice.own_fetch && self.credits[params.vn0_vcs as usize] > 0;
        let root_here = self.y == 0;
        choice.own_part = input.part.is_some() && root_here && self.own_room > 0 && !rx_part;
        let wants_part = input.part.is_some() && !root_here && self.credits[self.part_vc as usize] > 0;
        match self.turn {
            Sender::Part => choice.parts = wants_part,
            Sender::Fetch => choice.fetches = wants_fetch,
            Sender::Data => choice.leaves = wants_net,
        }
        self.choose_next(wants_part, wants_fetch, wants_net);
        let goes = [choice.keeps, choice.leaves];
        (choice.data_ready, choice.data_gone) =
            eager_fork::rule([to_self, to_others], [self.kept, self.left], goes);
        choice
    }

    /// Chooses the sender of the next period: the home, unless another class wants to send and the home has just
    /// had its turn or wants none.
    fn choose_next(&mut self, part: bool, fetch: bool, data: bool) {
        let yields = self.turn == Sender::Data || !data;
        let fetch = fetch && self.turn != Sender::Fetch;
        self.turn = match (part, fetch) {
            _ if !yields => Sender::Data,
            (true, true) if self.fetch_first => Sender::Fetch,
            (true, _) => Sender::Part,
            (_, true) => Sender::Fetch,
            _ => Sender::Data,
        };
        if self.turn != Sender::Data {
            self.fetch_first = self.turn == Sender::Part;
        }
    }

    /// Returns the flit for the requester.
    pub fn arrival(&self, input: &PortIn, choice: &Choice) -> Option<Arrival> {
        let of_net = input.rx.filter(|(vc, _)| *vc > self.params.vn0_vcs);
        if let Some((_, flit)) = of_net {
            // Bit 0 says whether the flit has several destinations.
            let head = flit.head >> 1;
            let key = head as u64 & low_bits(self.params.key_width);
            let index = (head >> self.params.key_width) as u32 & low_bits(self.params.index_width) as u32;
            return Some(Arrival { key, index, data: flit.data });
        }
        let data = input.data.filter(|_| choice.keeps)?;
        Some(Arrival { key: data.key, index: data.index, data: data.data })
    }

    /// Returns the fetch from the network; its coordinates are those of the requester.
    pub fn fetch_from_network(&self, rx: Option<Sent>) -> Option<Fetch> {
        let (_, flit) = rx.filter(|(vc, _)| *vc == self.params.vn0_vcs)?;
        let params = &self.params;
        let mut head = flit.head;
        let mut field = |width: u32| {
            let value = head as u64 & low_bits(width);
            head >>= width;
            value
        };
        let (key, mask) = (field(params.key_width), field(params.mask_width));
        let (x, y) = (field(params.x_width) as u32, field(params.y_width) as u32);
        let index = |at: u32| (flit.data >> (at * params.index_width)) & low_bits(params.index_width);
        let (first, last) = (index(0) as u32, index(1) as u32);
        let again = flit.data >> (2 * params.index_width) & 1 == 1;
        Some(Fetch { key, mask, x, y, first, last, again })
    }

    /// Returns the flit of PART for the reduce root.
    pub fn to_root(&self, input: &PortIn, choice: &Choice) -> Option<RootFlit> {
        if let Some((vc, flit)) = input.rx.filter(|(vc, _)| *vc < self.params.vn0_vcs) {
            return Some(self.root_flit(1 << vc, flit));
        }
        let part = input.part.filter(|_| choice.own_part)?;
        let head = self.part_head(part);
        Some(self.root_flit(1 << self.params.vn0_vcs, Flit { head, data: part.data, ..Flit::default() }))
    }

    fn root_flit(&self, valid: u32, flit: Flit) -> RootFlit {
        let mut head = flit.head as u64;
        let mut field = |width: u32| {
            let value = head & low_bits(width);
            head >>= width;
            value as u32
        };
        let [last, first] = [field(1), field(1)].map(|bit| bit == 1);
        let others = field(self.params.y_width);
        let [stream, layer, place] = self.params.part_widths.map(&mut field);
        let (x, y) = (field(self.params.x_width), field(self.params.y_width));
        let part = PartFlit { first, last, others, stream, layer, head: place, data: flit.data };
        RootFlit { valid, part, x, y }
    }

    /// Sends the outgoing flit and counts the router's credits.
    pub fn pass(&mut self, input: &PortIn, choice: &Choice) {
        [self.kept, self.left] = choice.data_gone;
        self.own_room -= u32::from(choice.own_part);
        self.tx = self.outgoing(input, choice);
        if let Some((vc, _)) = self.tx {
            self.credits[vc as usize] -= 1;
        }
        let mut credit = input.tx_credit;
        while credit != 0 {
            self.credits[credit.trailing_zeros() as usize] += 1;
            credit &= credit - 1;
        }
        // The next packet takes the next channel.
        if choice.parts && input.part.is_some_and(|part| part.last) {
            self.part_vc = (self.part_vc + 1) % self.params.vn0_vcs;
        }
    }

    /// Returns slots: of data at once, of fetches when one has left the home's buffer (`home_credit`), of
    /// PART when the root returns them.
    pub fn give_back(&mut self, rx: Option<Sent>, home_credit: bool, root_credit: u32) {
        let vn0 = (1 << self.params.vn0_vcs) - 1;
        let rx_data = rx.map_or(0, |(vc, _)| 1 << vc) & !(vn0 << 1 | 1);
        self.rx_credit = rx_data | u32::from(home_credit) << self.params.vn0_vcs | root_credit & vn0;
        self.own_room += root_credit >> self.params.vn0_vcs & 1;
    }

    /// Returns the flit sent to the router.
    fn outgoing(&self, input: &PortIn, choice: &Choice) -> Option<Sent> {
        match (input.data, input.part, input.fetch) {
            (Some(data), ..) if choice.leaves => {
                let elsewhere = without(&data.dest, &self.here);
                let head = u128::from(data.key)
                    | u128::from(data.index) << self.params.key_width
                    | u128::from(data.mask) << (self.params.key_width + self.params.index_width);
                let head = head << 1 | u128::from(several(&elsewhere));
                Some((self.data_vc(data.key), Flit { head, data: data.data, dest: self.set(&elsewhere) }))
            }
            (_, Some(part), _) if choice.parts => {
                let (head, dest) = (self.part_head(part), self.dest(self.x, 0));
                Some((self.part_vc, Flit { head, data: part.data, dest }))
            }
            (.., Some(fetch)) if choice.fetches => {
                let dest = self.dest(fetch.x, fetch.y);
                Some((
                    self.params.vn0_vcs,
                    Flit { head: self.fetch_head(fetch), data: self.range(fetch), dest },
                ))
            }
            _ => None,
        }
    }

    /// The tag of a slice selects the virtual channel, so its flits keep their order.
    fn data_vc(&self, key: u64) -> u32 {
        let (first, tag) = (self.params.vn0_vcs + 1, self.params.tag(key));
        let odd = tag.count_ones() & 1;
        match self.params.vcs - first {
            1 => first,
            2 => first + odd,
            _ => {
                let low = tag & low_bits(self.params.tag_width / 2);
                // Four lanes by two parities; the fourth goes with the first.
                first + [0, 1, 2, 0][(odd << 1 | low.count_ones() & 1) as usize]
            }
        }
    }

    fn fetch_head(&self, fetch: &Fetch) -> u128 {
        let params = &self.params;
        let place = u128::from(self.y << params.x_width | self.x);
        u128::from(fetch.key)
            | u128::from(fetch.mask) << params.key_width
            | place << (params.key_width + params.mask_width)
    }

    fn range(&self, fetch: &Fetch) -> u64 {
        let width = self.params.index_width;
        u64::from(fetch.first) | u64::from(fetch.last) << width | u64::from(fetch.again) << (2 * width)
    }

    fn part_head(&self, part: &PartFlit) -> u128 {
        let flags = [part.last, part.first].map(|bit| (1, u32::from(bit)));
        let [stream, layer, head] = self.params.part_widths;
        let fields = [
            (self.params.y_width, part.others),
            (stream, part.stream),
            (layer, part.layer),
            (head, part.head),
        ];
        let place = [(self.params.x_width, self.x), (self.params.y_width, self.y)];
        let (mut bits, mut at) = (0_u128, 0);
        for (width, value) in flags.into_iter().chain(fields).chain(place) {
            bits |= u128::from(u64::from(value) & low_bits(width)) << at;
            at += width;
        }
        bits
    }

    /// Encodes one destination as this fabric does.
    fn dest(&self, x: u32, y: u32) -> TileBits {
        if self.params.multicast {
            only(self.params.tile(x, y))
        } else {
            [u64::from(y << self.params.x_width | x), 0, 0, 0]
        }
    }

    /// Encodes a set of destinations; without multicast there is one.
    fn set(&self, tiles: &TileBits) -> TileBits {
        if self.params.multicast {
            return *tiles;
        }
        let tile = lowest(tiles).expect("what leaves goes somewhere") as u32;
        self.dest(tile % self.params.cols, tile / self.params.cols)
    }
}
