//! A home agent judged from its ports alone: what it must and must not merge and suppress, by the rules of docs/mare.md
//! and without the model.
//!
//! The transport of tile 0 stands alone. The bench plays the other tiles: their fetches arrive on KV_FETCH, and the flits
//! that the home sends on KV_DATA reach a tile after a delay of its own, up to several refresh periods. A tile repeats a
//! fetch while it lacks a flit of its range, and asks for it anew, with another generation, when it has all of them.

use crate::support::sources::source_mut;
use crate::support::verilated::{design, emitted, library_of};
use meshkv::config::Config;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::pins::{Pin, Pins};
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::dut::watched::power_up;
use meshkv::cosim::hash::mix;
use meshkv::design::{index_bits, Design};
use meshkv::emit::{self, ModuleSpec, SourceFile};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Slices in the home's staging memory.
const SLICES: u64 = 2;
/// Chunks of a slice that are asked for.
const CHUNKS: u64 = 2;
/// Cycles with new fetches, and cycles in which all of them must end.
const CYCLES: u64 = 40_000;
const DRAIN: u64 = 10_000;
/// Cycles in which a fetch passes from the port to the request table while nothing holds it back.
const PASS: u64 = 6;
/// Cycles from the mark of a chunk to its flits at the port, at most, while the network takes a flit in most cycles.
const MARKED: u64 = 64;
/// Ticks after which a tile has forgotten a range.
const FORGOTTEN: u64 = 3;

/// A fetch at the home's port.
#[derive(Debug, Clone, Copy)]
struct Fetch {
    at: u64,
    tile: u64,
    name: Name,
    again: bool,
}

/// A range of a generation: it has one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    slice: u64,
    chunk: u64,
    generation: u64,
}

/// A flit that the home sends.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: u64,
    name: Name,
    /// Position in its chunk.
    place: u64,
    /// Tiles, a bit each.
    dest: u64,
    intact: bool,
}

/// A tile's wish for a range, from its first fetch to its last flit.
#[derive(Debug, Clone, Copy)]
struct Episode {
    tile: u64,
    name: Name,
    /// Flits that have reached the tile, a bit each.
    here: u64,
}

struct Ports {
    /// Valid, head, data, credit.
    rx: [Pin; 4],
    /// Valid, destinations, head, data, credit.
    tx: [Pin; 5],
}

struct Bench<'a> {
    design: &'a Design,
    pins: Pins,
    ports: Ports,
    widths: [u32; 4],
    random: u64,
    /// Free places of the home's buffer of fetches.
    credits: u32,
    fetches: Vec<Fetch>,
    sent: Vec<Sent>,
    /// Fetches on their way, flits on their way with the cycle of their arrival, and open wishes.
    coming: VecDeque<(u64, Name, bool)>,
    flying: Vec<(u64, Sent)>,
    open: Vec<Episode>,
    /// Cycle from which a tile may use a name again.
    free_from: BTreeMap<(u64, Name), u64>,
}

impl<'a> Bench<'a> {
    fn new(design: &'a Design, files: &[SourceFile], seed: u64) -> Bench<'a> {
        let modules = emit::modules(design);
        let top: &ModuleSpec = modules.iter().find(|m| m.name == emit::TRANSPORT).unwrap();
        let library = library_of(BuildForm::TransportAlone, design, files);
        let mut pins =
            Pins::open(verilated(&library, power_up(seed)).unwrap(), top, &Clocks::IN_STEP).unwrap();
        let width = |name: &str| top.ports.iter().find(|p| p.name == name).unwrap().width.bits;
        let mesh = design.mesh;
        let widths = [width("cmd_tag"), width("cmd_mask"), width("cmd_first"), index_bits(mesh.cols())];
        let mut pin = |name: &str| pins.pin(top, name, 1).unwrap();
        let ports = Ports {
            rx: ["rx_valid", "rx_head", "rx_data", "rx_credit"].map(&mut pin),
            tx: ["tx_valid", "tx_dest", "tx_head", "tx_data", "tx_credit"].map(&mut pin),
        };
        let names = ["fill_valid", "fill_addr", "fill_data", "claim_valid", "claim_slot", "claim_tag"];
        let staging = names.map(&mut pin);
        let publish = ["publish_valid", "publish_slot"].map(&mut pin);
        let mut bench = Bench {
            design,
            pins,
            ports,
            widths,
            random: mix(seed),
            credits: design.router.vc_depth,
            fetches: Vec::new(),
            sent: Vec::new(),
            coming: VecDeque::new(),
            flying: Vec::new(),
            open: Vec::new(),
            free_from: BTreeMap::new(),
        };
        bench.fill(staging, publish);
        bench
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random = mix(self.random);
        (self.random >> 16) % n
    }

    /// Tag of a slice.
    fn tag(slice: u64) -> u64 {
        slice + 1
    }

    fn payload(slice: u64, index: u64) -> u64 {
        mix(slice << 32 | index)
    }

    /// Writes the slices into the staging memory and publishes them; they stay.
    fn fill(&mut self, staging: [Pin; 6], publish: [Pin; 2]) {
        let [fill, addr, data, claim, claim_slot, claim_tag] = staging;
        let flits = u64::from(self.design.mare.slice_flits);
        for slice in 0..SLICES {
            self.pins.set(fill, 0, 1);
            for index in 0..flits {
                self.pins.set(addr, 0, slice * flits + index);
                self.pins.set(data, 0, Bench::payload(slice, index));
                self.pins.tick().unwrap();
            }
            self.pins.set(fill, 0, 0);
            for (pin, value) in [(claim, 1), (claim_slot, slice), (claim_tag, Bench::tag(slice))] {
                self.pins.set(pin, 0, value);
            }
            self.pins.set(publish[0], 0, 1);
            self.pins.set(publish[1], 0, slice);
            self.pins.tick().unwrap();
            self.pins.set(claim, 0, 0);
            self.pins.set(publish[0], 0, 0);
        }
        (0..20).for_each(|_| self.pins.tick().unwrap());
    }

    /// Cycles that a flit takes to a tile: the last tile is several refresh periods away.
    fn delay(&self, tile: u64) -> u64 {
        let tiles = self.design.mesh.tiles() as u64;
        let period = u64::from(self.design.mare.bloom_refresh);
        if tile + 1 == tiles {
            3 * period + 50
        } else {
            4 + 9 * tile
        }
    }

    fn chunk_flits(&self) -> u64 {
        u64::from(self.design.mare.chunk_flits)
    }

    /// Draws what tiles do in a cycle.
    fn wish(&mut self) {
        let (tiles, now) = (self.design.mesh.tiles() as u64, self.pins.cycle());
        if self.below(12) == 0 {
            let tile = 1 + self.below(tiles - 1);
            let (slice, chunk) = (self.below(SLICES), self.below(CHUNKS));
            let busy = |e: &Episode| e.tile == tile && (e.name.slice, e.name.chunk) == (slice, chunk);
            if !self.open.iter().any(busy) {
                let free = (0..4)
                    .map(|generation| Name { slice, chunk, generation })
                    .find(|name| self.free_from.get(&(tile, *name)).is_none_or(|&from| from <= now));
                if let Some(name) = free {
                    self.open.push(Episode { tile, name, here: 0 });
                    self.coming.push_back((tile, name, false));
                }
            }
        }
        if !self.open.is_empty() && self.below(24) == 0 {
            let at = self.below(self.open.len() as u64) as usize;
            let Episode { tile, name, .. } = self.open[at];
            self.coming.push_back((tile, name, true));
        }
    }

    /// Runs a cycle, in which tiles may begin to want something.
    fn step(&mut self, wishes: bool) {
        let [tag_bits, mask_bits, index_bits, x_bits] = self.widths;
        if wishes {
            self.wish();
        }
        let now = self.pins.cycle();
        let vn0 = self.design.router.vn0_vcs;
        let next = (self.credits > 0).then(|| self.coming.pop_front()).flatten();
        self.pins.set(self.ports.rx[0], 0, u64::from(next.is_some()) << vn0);
        if let Some((tile, name, again)) = next {
            let (x, y) =
                (tile % u64::from(self.design.mesh.cols()), tile / u64::from(self.design.mesh.cols()));
            let key = Bench::tag(name.slice) | name.generation << tag_bits;
            let place = y << x_bits | x;
            let key_bits = tag_bits + 2;
            self.pins.set(self.ports.rx[1], 0, key | 1 << key_bits | place << (key_bits + mask_bits));
            let first = name.chunk * self.chunk_flits();
            let last = first + self.chunk_flits() - 1;
            let data = first | last << index_bits | u64::from(again) << (2 * index_bits);
            self.pins.set(self.ports.rx[2], 0, data);
            self.credits -= 1;
            self.fetches.push(Fetch { at: now, tile, name, again });
        }
        self.pins.tick().unwrap();
        self.credits += (self.pins.get(self.ports.rx[3], 0) >> vn0 & 1) as u32;
        let valid = self.pins.get(self.ports.tx[0], 0);
        // The network returns a slot at once.
        self.pins.set(self.ports.tx[4], 0, valid);
        if valid >> (vn0 + 1) != 0 {
            self.send(now);
        }
        self.deliver(now);
    }

    /// Notes a flit that the home sends.
    fn send(&mut self, now: u64) {
        let [tag_bits, _, index_bits, _] = self.widths;
        let head = self.pins.get(self.ports.tx[2], 0) >> 1;
        let field = |at: u32, bits: u32| head >> at & ((1 << bits) - 1);
        let (tag, generation) = (field(0, tag_bits), field(tag_bits, 2));
        let index = field(tag_bits + 2, index_bits);
        let slice = tag - 1;
        let (chunk, place) = (index / self.chunk_flits(), index % self.chunk_flits());
        let intact = self.pins.get(self.ports.tx[3], 0) == Bench::payload(slice, index);
        let dest = self.pins.get(self.ports.tx[1], 0);
        let sent = Sent { at: now, name: Name { slice, chunk, generation }, place, dest, intact };
        self.sent.push(sent);
        let tiles = self.design.mesh.tiles() as u64;
        for tile in (0..tiles).filter(|tile| dest >> tile & 1 == 1) {
            self.flying.push((now + self.delay(tile), Sent { dest: 1 << tile, ..sent }));
        }
    }

    /// Hands tiles the flits that have reached them.
    fn deliver(&mut self, now: u64) {
        let whole = (1 << self.chunk_flits()) - 1;
        let forgotten = now + FORGOTTEN * u64::from(self.design.mare.bloom_refresh);
        let (came, flying) = std::mem::take(&mut self.flying).into_iter().partition(|(at, _)| *at <= now);
        self.flying = flying;
        let came: Vec<(u64, Sent)> = came;
        for (_, flit) in came {
            let tile = u64::from(flit.dest.trailing_zeros());
            let of = |e: &&mut Episode| e.tile == tile && e.name == flit.name;
            if let Some(episode) = self.open.iter_mut().find(of) {
                episode.here |= 1 << flit.place;
            }
        }
        for episode in self.open.iter().filter(|e| e.here == whole) {
            self.free_from.insert((episode.tile, episode.name), forgotten);
        }
        self.open.retain(|episode| episode.here != whole);
    }
}

/// What a run has shown, and how often each rule could have been broken.
#[derive(Debug, Default)]
struct Judged {
    broken: Vec<String>,
    merged: u32,
    suppressed: u32,
    repeated: u32,
}

/// Runs random fetches and judges them.
fn judged(design: &Design, files: &[SourceFile], seed: u64) -> Judged {
    let mut bench = Bench::new(design, files, seed);
    let begin = bench.pins.cycle();
    while bench.pins.cycle() < begin + CYCLES {
        bench.step(true);
    }
    let end = bench.pins.cycle() + DRAIN;
    while !bench.open.is_empty() && bench.pins.cycle() < end {
        bench.step(false);
    }
    let mut judged = Judged::default();
    for episode in &bench.open {
        judged.broken.push(format!("tile {} never gets all of {:?}", episode.tile, episode.name));
    }
    judge_flits(&bench, &mut judged);
    judge_names(&bench, &mut judged);
    judge_merges(&bench, &mut judged);
    judged
}

/// Flits are intact, and those of a chunk follow each other.
fn judge_flits(bench: &Bench, judged: &mut Judged) {
    let mut last: Option<Sent> = None;
    for flit in &bench.sent {
        if !flit.intact {
            judged.broken.push(format!("{flit:?} is not what was filled in"));
        }
        let follows = last
            .is_some_and(|last| (last.name, last.dest, last.place + 1) == (flit.name, flit.dest, flit.place));
        if flit.place > 0 && !follows {
            judged.broken.push(format!("{flit:?} does not follow the one before it in its chunk"));
        }
        last = Some(*flit);
    }
}

/// For each tile, name and flit: nothing comes unasked, what a first fetch asks for comes, and of repeats only those are
/// answered that nothing remembers.
fn judge_names(bench: &Bench, judged: &mut Judged) {
    let (period, chunk) = (u64::from(bench.design.mare.bloom_refresh), bench.chunk_flits());
    let mut wishes: BTreeMap<(u64, Name), Vec<(u64, bool)>> = BTreeMap::new();
    for fetch in &bench.fetches {
        wishes.entry((fetch.tile, fetch.name)).or_default().push((fetch.at, fetch.again));
    }
    let mut answers: BTreeMap<(u64, Name), Vec<u64>> = BTreeMap::new();
    for flit in bench.sent.iter().filter(|flit| flit.place + 1 == chunk) {
        for tile in (0..64).filter(|tile| flit.dest >> tile & 1 == 1) {
            answers.entry((tile, flit.name)).or_default().push(flit.at);
        }
    }
    for (of, times) in &answers {
        let asked = wishes.get(of).cloned().unwrap_or_default();
        for (k, at) in times.iter().enumerate() {
            if asked.iter().filter(|(asked, _)| asked < at).count() <= k {
                judged.broken.push(format!(
                    "{of:?} comes for the {}th time in cycle {at} and was not asked for",
                    k + 1
                ));
            }
        }
    }
    for ((tile, name), asked) in &wishes {
        let came = answers.get(&(*tile, *name)).cloned().unwrap_or_default();
        let firsts = asked.iter().filter(|(_, again)| !again).map(|(at, _)| *at);
        for (begun, next) in firsts.clone().zip(firsts.skip(1).chain([u64::MAX])) {
            let mut here = came.iter().copied().filter(|at| (begun..next).contains(at));
            let Some(first) = here.next() else {
                judged
                    .broken
                    .push(format!("tile {tile} asks for {name:?} in cycle {begun} and gets nothing"));
                continue;
            };
            let repeats: Vec<_> =
                asked.iter().filter(|(at, again)| *again && (begun..next).contains(at)).collect();
            // A request that a repeat of any tile has joined leaves no mark.
            let unmarked = bench
                .fetches
                .iter()
                .any(|f| f.name == *name && f.again && f.at + 400 > begun && f.at <= first);
            let mut names: BTreeSet<Name> = bench
                .sent
                .iter()
                .filter(|s| s.at + 2 * period + MARKED > first && s.at <= first)
                .map(|s| s.name)
                .collect();
            names.insert(*name);
            let full = names.len() > bench.design.mare.tag_entries as usize;
            // A tag that another tile's request has made lives no longer for this one.
            let older = bench.sent.iter().any(|s| {
                s.name == *name && s.at < first && s.at + chunk < first && s.at + 2 * period + MARKED > first
            });
            let within = here.clone().find(|at| *at + MARKED < first + period);
            if !unmarked && !full && !older && !repeats.is_empty() {
                judged.suppressed += 1;
                if let Some(at) = within {
                    judged.broken.push(format!(
                        "tile {tile} gets {name:?} in cycle {first} and again in {at}, within a period"
                    ));
                }
            }
            // Nothing remembers it after two periods.
            for (at, _) in repeats.iter().filter(|(at, _)| *at > first + 2 * period + MARKED) {
                judged.repeated += 1;
                if !here.clone().any(|came| came > *at) {
                    judged.broken.push(format!("tile {tile} repeats {name:?} in cycle {at} and gets nothing, two periods after {first}"));
                }
            }
        }
    }
}

/// A first fetch that comes while the window of another is open for certain is answered with it.
fn judge_merges(bench: &Bench, judged: &mut Judged) {
    let window = u64::from(bench.design.mare.coalesce_window);
    for (i, a) in bench.fetches.iter().enumerate() {
        // It opens a request: all that was asked for before has gone, and long ago.
        let before = bench.fetches[..i].iter().any(|f| f.name == a.name && f.at + 600 > a.at);
        if before {
            continue;
        }
        for b in bench.fetches[i + 1..].iter().take_while(|b| b.at + PASS < a.at + window) {
            if b.name != a.name || b.tile == a.tile {
                continue;
            }
            judged.merged += 1;
            let both = 1 << a.tile | 1 << b.tile;
            let next = bench.sent.iter().find(|flit| flit.at > b.at && flit.name == a.name);
            if next.is_none_or(|flit| flit.dest & both != both) {
                judged.broken.push(format!("{a:?} and {b:?} meet in a window and are not answered together"));
            }
        }
    }
}

/// A fabric whose home is asked by five tiles.
fn fabric(change: impl FnOnce(&mut Config)) -> Design {
    design(3, 2, |c| {
        c.mare.coalesce_window = 16;
        c.mare.bloom_refresh = 400;
        c.mare.tag_entries = 16;
        c.mare.request_entries = 16;
        change(c);
    })
}

#[test]
fn homes_merge_and_suppress_what_they_must_and_nothing_else() {
    let mut all = Judged::default();
    for (seed, change) in [
        (1, (|_| {}) as fn(&mut Config)),
        (2, |c| c.mare.coalesce_window = 40),
        (3, |c| c.mare.tag_entries = 2),
        (4, |c| c.mare.request_entries = 2),
        (5, |c| c.mare.bloom_refresh = 100),
    ] {
        let design = fabric(change);
        let found = judged(&design, &emitted(&design), seed);
        assert_eq!(found.broken, Vec::<String>::new(), "seed {seed}");
        all.merged += found.merged;
        all.suppressed += found.suppressed;
        all.repeated += found.repeated;
    }
    assert!(all.merged > 10 && all.suppressed > 50 && all.repeated > 20, "the rules were not tried: {all:?}");
}

#[test]
fn a_home_that_breaks_a_rule_is_found() {
    let design = fabric(|_| {});
    // Tags that never end leave none for others: the Bloom filter forgets what they know.
    for (file, from, to, words) in [
        (
            "meshkv_duplicate_filter",
            "wire [TILES-1:0] left   = s_dest & ~served;",
            "wire [TILES-1:0] left = s_dest;",
            "within a period",
        ),
        (
            "meshkv_duplicate_filter",
            "valid_q <= (valid_q & ~(aged & {ENTRIES{tick}}))",
            "valid_q <= valid_q",
            "within a period",
        ),
        ("meshkv_duplicate_filter", "wire mark = decide & ~s_again;", "wire mark = decide;", "gets nothing"),
        (
            "meshkv_request_table",
            "dest_mem[asked] <= p_tile_q | (dest_mem[asked] & {TILES{in_time}});",
            "dest_mem[asked] <= p_tile_q;",
            "not answered together",
        ),
        (
            "meshkv_request_table",
            "open_q   <= start | (open_q & ~may_close);",
            "open_q <= start;",
            "never gets all",
        ),
        ("meshkv_slice_streamer", "rd_addr = base_q + ", "rd_addr = 1'b1 + ", "is not what was filled in"),
    ] {
        let mut files = emitted(&design).to_vec();
        let source = source_mut(&mut files, file);
        assert_eq!(source.text.matches(from).count(), 1, "{from:?} stands in {file} once");
        source.text = source.text.replace(from, to);
        let found = judged(&design, &files, 1);
        assert!(found.broken.iter().any(|broken| broken.contains(words)), "{from}: {:?}", found.broken);
    }
}
