//! Tile beside a router (`meshkv_tile`): bus stop, prefetcher, filler, occupancy and transport, joined.

use crate::design::{Design, Mapping};
use crate::model::cycle::common::{BloomPeriod, Rare, Reached};
use crate::model::cycle::mare::{Events, KvFlit, MareParams, RootFlit, Sent, Transport, TransportIn};
use crate::model::cycle::pad::ComputeIn;
use crate::model::cycle::takv::{
    Answer, Ask, Burst, BusStop, BusWord, Fill, Filler, Kind, NewToken, Occupancy, Prefetcher, Query,
};

/// Outputs of the tile in a period, which also depend on its inputs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// Four elements of a query.
    pub vector: Option<Query>,
    /// Next job.
    pub job: Option<Ask>,
    /// Flit of a slice.
    pub kv: Option<KvFlit>,
    /// The flit of PART is taken.
    pub part_ready: bool,
    /// Arrived flit of PART.
    pub root: Option<RootFlit>,
    /// Counter at the port, and its total.
    pub event: (usize, u32),
    /// The memory reported an error.
    pub error_memory: bool,
    /// The memory did not answer in time.
    pub error_timeout: bool,
    /// A descriptor names a slice again before it was served, which the driver must not do.
    pub named_again: bool,
}

/// Inputs of a tile in a period.
#[derive(Debug, Clone, Copy, Default)]
pub struct TileIn<'a> {
    /// Flit from the router.
    pub rx: Option<Sent>,
    /// Slots freed in the router's local input, one bit a virtual channel.
    pub tx_credit: u32,
    /// Word of the bus.
    pub word: Option<&'a BusWord>,
    /// A word has left the next stop.
    pub word_credit: bool,
    /// Occupancy from the north.
    pub occupancy: Option<u64>,
    /// Flit read from memory.
    pub answer: Option<Answer>,
    /// A burst has left the memory port's queue.
    pub burst_credit: bool,
    /// A word of a new token has left the memory port's queue.
    pub new_credit: bool,
    /// Outputs of the PaD.
    pub compute: ComputeIn,
}

/// Tile.
#[derive(Debug, Clone)]
pub struct Tile {
    x: u32,
    y: u32,
    /// By head of the column: its row, counted from its stream's first row.
    back: Box<[u32]>,
    rows: u32,
    bus: BusStop,
    prefetcher: Prefetcher,
    filler: Filler,
    transport: Transport,
    occupancy: Option<Occupancy>,
    token: Option<NewToken>,
    events: Events,
    /// Queries come: jobs are kept.
    barred: bool,
}

impl Tile {
    /// Creates the tile at (x, y) in its reset state.
    pub fn new(design: &Design, params: &MareParams, x: u32, y: u32) -> Tile {
        Tile {
            x,
            y,
            back: (0..params.mask_width).map(|h| h * params.row_step % params.rows).collect(),
            rows: params.rows,
            bus: BusStop::new(params.bus_depth, y + 1 == params.rows),
            prefetcher: Prefetcher::new(params),
            filler: Filler::new(params),
            transport: Transport::new(params, x, y),
            occupancy: params.swaps.then(|| Occupancy::new(params)),
            token: design.append.as_ref().map(|append| NewToken::new(design, append)),
            events: Events::default(),
            barred: false,
        }
    }

    /// Stop of the column bus.
    pub fn bus(&self) -> &BusStop {
        &self.bus
    }

    /// Burst to the memory port: a register.
    pub fn request(&self) -> Option<&Burst> {
        self.filler.request()
    }

    /// Occupancy to the tile in the south: a register.
    pub fn occupancy(&self) -> Option<u64> {
        self.occupancy.as_ref().and_then(Occupancy::to_south)
    }

    /// Word of a new token to the memory port: a register.
    pub fn new_word(&self) -> Option<u64> {
        self.token.as_ref().and_then(NewToken::passed)
    }

    /// Requester, home and port.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Rare states that its blocks have reached.
    pub fn reached(&self) -> &Reached {
        self.events.reached()
    }

    /// Advances one clock period.
    pub fn step(&mut self, period: BloomPeriod, input: &TileIn) -> Shown {
        let compute = &input.compute;
        let word = self.bus.word().copied();
        let heard = word.as_ref().map(|word| self.hear(word, compute.vector_ready)).unwrap_or_default();
        let job = self.prefetcher.job().filter(|_| !self.barred).copied();
        self.events.reach_if(self.barred && self.prefetcher.job().is_some(), Rare::JobsKept);
        self.events.reach_if(!self.prefetcher.has_room(), Rare::AsksFull);
        self.events.reach_if(word.is_some() && !heard.done, Rare::WordWaits);
        let requester = self.transport.requester();
        let came = requester.came();
        let busy = self.prefetcher.tag().is_some_and(|tag| requester.is_busy_with(tag));
        let command = self.prefetcher.command();
        let home = self.transport.home();
        let freed = home.freed();
        let waits = self.filler.waits_for_slot();
        let known = waits.is_some_and(|tag| home.knows(tag));
        let staged = self.filler.staged(self.token.as_ref(), home.reads());
        let wanted = self.filler.wanted(self.token.as_ref());
        let token_done = self.token.as_ref().is_some_and(|token| token.is_done(&wanted));
        let mut shown = Shown {
            vector: word.filter(|word| word.kind == Kind::Query).map(|word| word.query),
            job,
            kv: requester.kv().copied(),
            event: self.events.scan(),
            error_memory: self.filler.error_memory(),
            error_timeout: self.filler.error_timeout(),
            named_again: waits.is_some_and(|tag| home.is_unserved(tag)),
            ..Shown::default()
        };
        let to_transport = TransportIn {
            rx: input.rx,
            tx_credit: input.tx_credit,
            command: command.as_ref(),
            staged,
            kv_ready: compute.kv_ready,
            apart: compute.apart,
            compute_idle: compute.idle,
            part: compute.part.as_ref(),
            root_credit: compute.root_credit,
        };
        let out = self.transport.step(period, &to_transport, &mut self.events);
        (shown.part_ready, shown.root) = (out.part_ready, out.root);
        let told = job.is_some() && compute.job_ready;
        self.prefetcher.step(heard.ask, out.command_ready, told, came, busy);
        let of_filler = (heard.fill, &staged, freed, known);
        self.filler.step(of_filler, input.answer, token_done, input.burst_credit, &mut self.events);
        if let Some(token) = &mut self.token {
            token.step(heard.token, &wanted, input.new_credit);
        }
        if let Some(occupancy) = &mut self.occupancy {
            let sample = word.is_some_and(|word| word.kind == Kind::Call);
            occupancy.step(sample, out.data_sent, out.data_credit, input.occupancy);
        }
        if let Some(mark) = word.filter(|word| word.kind == Kind::Mark) {
            self.barred = mark.barred;
        }
        self.bus.step(input.word, heard.done, input.word_credit);
        shown
    }

    /// Clocks the PaD's side alone.
    pub fn kv_edge(&mut self, takes: bool) {
        self.transport.kv_edge(takes);
    }

    /// Extracts this tile's part of a word, and checks that there is room for all of it.
    fn hear(&self, word: &BusWord, vector_ready: bool) -> Heard {
        let asked = matches!(word.kind, Kind::Slice | Kind::Close) && word.ask >> self.y & 1 == 1;
        let home = (word.home_x, word.home_y) == (self.x, self.y);
        let filled = word.kind == Kind::Slice && word.fill && home;
        let asks_ready = !asked || self.prefetcher.has_room();
        let fills_ready = !filled || self.filler.has_room();
        let query_ready = word.kind != Kind::Query || vector_ready;
        let is_token = word.kind == Kind::Token && home;
        let token_ready = !is_token || self.token.as_ref().is_some_and(NewToken::takes);
        let done = asks_ready && fills_ready && query_ready && token_ready;
        Heard {
            done,
            ask: (done && asked).then(|| self.ask(word)),
            fill: (done && filled).then_some(Fill {
                tag: word.tag,
                flits: (word.first, word.last),
                number: word.number,
                expected: word.expected,
                append: word.append,
            }),
            token: (done && is_token).then_some(word.token),
        }
    }

    fn ask(&self, word: &BusWord) -> Ask {
        Ask {
            close: word.kind == Kind::Close,
            tag: word.tag,
            home: (word.home_x, word.home_y),
            mask: word.mask & self.own_heads(word),
            flits: (word.first, word.last),
            stream: word.stream,
            streams: word.streams,
            rows: (word.first_row, word.last_row),
            mapping: word.mapping,
            // A close has no home: it says how many other rows have a partial result of its heads.
            lag: match word.kind {
                Kind::Close => word.expected,
                _ => (self.y + self.rows - word.home_y) % self.rows,
            },
        }
    }

    /// Returns the heads of this row in one of the streams, for mappings with a row per head.
    fn own_heads(&self, word: &BusWord) -> u64 {
        if word.mapping != Mapping::HeadTile {
            return u64::MAX;
        }
        let here = |back: u32| word.spread >> ((self.y + self.rows - back) % self.rows) & 1 == 1;
        self.back.iter().enumerate().fold(0, |own, (h, &back)| own | u64::from(here(back)) << h)
    }
}

/// Effect of a word on the tile.
#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    done: bool,
    ask: Option<Ask>,
    fill: Option<Fill>,
    token: Option<u64>,
}
