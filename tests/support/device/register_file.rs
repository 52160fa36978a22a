//! Model of the register file, from the tables of `design::registers`, for sequences of accesses by a host.

use meshkv::design::device::registers::{self, named, Access, ADDRESS_BITS, DESC_QUEUE, WATCHDOG};
use meshkv::design::Descriptor;
use meshkv::design::Design;
use std::collections::{BTreeMap, BTreeSet};

/// The expected value of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    Exactly(u32),
    /// Any value: it depends on time.
    Anything,
}

/// A register file without a run under way.
pub struct Reference {
    design: Design,
    /// Stored values by offset.
    kept: BTreeMap<u32, u32>,
    gie: bool,
    ier: u32,
    isr: u32,
    done: bool,
    again: bool,
    error: u32,
    info: u32,
    runs: u32,
    /// Descriptors that wait, and their combined contents.
    queue: u32,
    layer: Option<u32>,
    attends: BTreeSet<u32>,
    closed: BTreeSet<u32>,
    /// Caches with a new token.
    appended: BTreeSet<u32>,
    /// Streams whose queries the core has, from the first on.
    loaded: u32,
}

/// Registers that store the written value.
const KEPT: [&str; 11] = [
    "DESC_CACHE",
    "DESC_FIRST",
    "DESC_STRIDE",
    "DESC_COUNT",
    "DESC_ROWS",
    "DESC_STREAMS",
    "QUERY_STREAMS",
    "LIST_COUNT",
    "TOKEN_STREAMS",
    "WATCHDOG",
    "COUNTER_SELECT",
];

fn at(name: &str) -> u32 {
    named(name).offset
}

impl Reference {
    /// The register file after a reset.
    pub fn new(design: &Design) -> Reference {
        let mut kept: BTreeMap<u32, u32> = KEPT.iter().map(|name| (at(name), 0)).collect();
        kept.insert(at("WATCHDOG"), WATCHDOG);
        for number in 0..design.arguments().len() as u32 {
            let offset = Design::argument_offset(number);
            kept.extend([(offset, 0), (offset + 4, 0)]);
        }
        Reference {
            design: design.clone(),
            kept,
            gie: false,
            ier: 0,
            isr: 0,
            done: false,
            again: false,
            error: 0,
            info: 0,
            runs: 0,
            queue: 0,
            layer: None,
            attends: BTreeSet::new(),
            closed: BTreeSet::new(),
            appended: BTreeSet::new(),
            loaded: 0,
        }
    }

    /// Offsets of all words, holes included.
    pub fn offsets() -> impl Iterator<Item = u32> {
        (0..1 << ADDRESS_BITS).step_by(4)
    }

    /// The level of the interrupt line.
    pub fn interrupt(&self) -> bool {
        self.gie && self.isr != 0
    }

    /// The value of a register that is kept.
    pub fn value(&self, name: &str) -> u32 {
        self.kept[&at(name)]
    }

    fn interrupts(&mut self, set: u32) {
        self.isr |= set & self.ier;
    }

    /// Raises an error.
    pub fn raise(&mut self, name: &str, place: u32) {
        let registers::ErrorCause { bit, consequence, .. } = *registers::error(name);
        if self.error == 0 {
            self.info = bit | (place & 0xffff) << 16;
        }
        self.error |= 1 << bit;
        if consequence.ends_chain() {
            self.again = false;
        }
        self.interrupts(4);
    }

    /// Returns the value of a read, and applies its effect.
    pub fn read(&mut self, offset: u32) -> Reads {
        if let Some(kept) = self.kept.get(&offset) {
            return Reads::Exactly(*kept);
        }
        let known = registers::REGISTERS.iter().find(|r| r.offset == offset);
        let Some(register) = known else {
            self.raise("ACCESS", offset);
            return Reads::Exactly(0);
        };
        let identity = self.design.identity();
        if let Some((_, value)) = identity.iter().find(|(name, _)| *name == register.name) {
            return Reads::Exactly(*value);
        }
        Reads::Exactly(match register.name {
            "CTRL" => {
                let value = (u32::from(self.done) * 0b1010) | 0b100 | u32::from(self.again) << 7;
                self.done = false;
                value
            }
            "GIE" => u32::from(self.gie),
            "IER" => self.ier,
            "ISR" => self.isr,
            "ERROR" => self.error,
            "ERROR_INFO" => self.info,
            "RUNS" => self.runs,
            "DESC_FREE" => DESC_QUEUE - self.queue,
            _ if register.access == Access::WriteOnly => 0,
            _ => return Reads::Anything,
        })
    }

    /// Writes the bytes that `strobes` select. Of the registers that start actions it accepts only CTRL without
    /// AP_START.
    pub fn write(&mut self, offset: u32, value: u32, strobes: u32) {
        let mask = (0..4).filter(|i| strobes >> i & 1 == 1).fold(0, |mask, i| mask | 0xff << (8 * i));
        let bits = value & mask;
        if offset == at("COUNTER_SELECT") {
            return self.select(self.value("COUNTER_SELECT") & !mask | bits);
        }
        if let Some(kept) = self.kept.get_mut(&offset) {
            *kept = *kept & !mask | bits;
            return;
        }
        let known = registers::REGISTERS.iter().find(|r| r.offset == offset);
        match known.filter(|r| r.access.writes()).map(|r| r.name) {
            None => self.raise("ACCESS", offset),
            Some("CTRL") if strobes & 1 == 1 => self.again = bits >> 7 & 1 == 1,
            Some("GIE") if strobes & 1 == 1 => self.gie = bits & 1 == 1,
            Some("IER") if strobes & 1 == 1 => self.ier = bits & 7,
            Some("ISR") => self.isr ^= bits & 7,
            Some("ERROR") => {
                self.error &= !bits;
            }
            Some(_) => {}
        }
    }

    fn select(&mut self, value: u32) {
        let fields = named("COUNTER_SELECT").fields;
        let [index, group, tile] = [0, 1, 2].map(|i| fields[i].of(value));
        let counters = match group {
            // Five ports: other places of a scan are no counters.
            0 => 5 * meshkv::cosim::dut::network::COUNTERS_PER_PORT as u32,
            1 => meshkv::emit::TILE_EVENTS.len() as u32,
            2 => meshkv::emit::pad_events(&self.design).len() as u32,
            _ => 1,
        };
        if index < counters && tile < self.design.mesh.tiles() as u32 {
            self.kept.insert(at("COUNTER_SELECT"), value);
        } else {
            self.raise("SELECT", 0);
        }
    }

    /// Causes for which a descriptor may be refused, each with its place; none if it is taken.
    pub fn refusals(&self, d: &Descriptor, mapping: u32) -> Vec<(&'static str, u32)> {
        let (model, tokens) = (&self.design.model, self.design.placement.segment_tokens);
        let end = u64::from(d.first) + u64::from(d.count.saturating_sub(1)) * u64::from(d.stride);
        let segments = self.design.placement.segments;
        let no_segments = d.count == 0 || d.stride == 0 || end >= u64::from(segments);
        // A stride is no longer than a context, even where nothing is strided over.
        let stride = d.stride >= segments.max(2);
        let rows =
            d.first_row >= tokens || d.last_row >= tokens || (d.count == 1 && d.last_row < d.first_row);
        let streams = d.streams == 0 || d.stream + d.streams > model.max_streams;
        let again = self.design.append.is_none() || self.appended.contains(&d.prefix);
        let closed = (d.stream..d.stream + d.streams).any(|s| self.closed.contains(&s));
        [
            (d.layer >= model.layers, "DESC_LAYER", d.layer),
            (self.layer.is_some_and(|layer| layer != d.layer), "DESC_MIXED", d.layer),
            (d.prefix >= model.max_streams, "DESC_PREFIX", d.prefix),
            (mapping == 3, "DESC_MAPPING", mapping),
            (self.queue == DESC_QUEUE, "DESC_FULL", 0),
            (no_segments || stride, "DESC_SEGMENTS", d.first),
            (rows, "DESC_ROWS", d.first_row),
            (streams, "DESC_STREAMS", d.stream),
            (d.append && (d.streams != 1 || again), "DESC_APPEND", d.stream),
            (closed, "DESC_CLOSED", d.stream),
        ]
        .into_iter()
        .filter(|(refused, ..)| *refused)
        .map(|(_, name, place)| (name, place))
        .collect()
    }

    /// Adds a descriptor to the queue.
    pub fn push(&mut self, d: &Descriptor) {
        self.queue += 1;
        self.layer = Some(d.layer);
        let streams = d.stream..d.stream + d.streams;
        self.attends.extend(streams.clone());
        if d.close {
            self.closed.extend(streams);
        }
        if d.append {
            self.appended.insert(d.prefix);
        }
    }

    /// Causes for which a run may be refused.
    pub fn start_refusals(&self) -> Vec<&'static str> {
        let skewed = |number: u32| {
            let align = if number < 2 || number == self.design.list_argument() {
                registers::BUFFER_ALIGN
            } else {
                self.design.base_align()
            };
            !self.kept[&Design::argument_offset(number)].is_multiple_of(align)
        };
        let skewed = (0..self.design.arguments().len() as u32).any(skewed);
        let attend = self.attends.last().map_or(0, |highest| highest + 1);
        let loaded = self.loaded.max(self.value("QUERY_STREAMS"));
        let (tokens, last) = (self.value("TOKEN_STREAMS"), self.appended.last().map_or(0, |cache| cache + 1));
        let caches = if self.design.append.is_some() { self.design.model.max_streams } else { 0 };
        [
            (self.queue == 0, "START_EMPTY"),
            (self.attends != self.closed, "START_OPEN"),
            (self.value("QUERY_STREAMS") > self.design.model.max_streams, "START_QUERIES"),
            (attend > loaded, "START_UNLOADED"),
            (tokens > caches || last > tokens, "START_TOKENS"),
            (skewed, "ARGUMENT"),
        ]
        .into_iter()
        .filter(|(refused, _)| *refused)
        .map(|(_, name)| name)
        .collect()
    }

    /// Ends a run. A refused run leaves its descriptors in the queue.
    pub fn over(&mut self, refused: bool) {
        if !refused {
            self.loaded = self.loaded.max(self.value("QUERY_STREAMS"));
            self.forget();
        }
        self.runs += 1;
        self.done = true;
        self.interrupts(3);
    }

    /// Empties the queue and the core.
    pub fn soft_reset(&mut self) {
        self.loaded = 0;
        self.forget();
    }

    /// Empties the queue.
    fn forget(&mut self) {
        (self.queue, self.layer) = (0, None);
        self.attends.clear();
        self.closed.clear();
        self.appended.clear();
    }

    /// The value of ERROR.
    pub fn error(&self) -> u32 {
        self.error
    }
}
