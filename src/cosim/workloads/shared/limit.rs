//! Ends a run at its bound, and says what still moves.

use super::bound::Bound;
use crate::cosim::dut::network::{COUNTERS, COUNTERS_PER_PORT};
use crate::cosim::memory::{Memory, PortCounts};
use crate::design::{Class, Design, NodeId, Port};
use crate::emit::TILE_EVENTS;

/// Cycles at the end of a bound over which movements are counted. Counters are read one after the other, each up to 64
/// cycles late.
const WINDOW: u64 = 1_024;
/// Senders that a message names.
const NAMED: usize = 8;

/// Counters of a design and its memory at one time.
#[derive(Debug, Clone, Default)]
pub(in crate::cosim) struct Moved {
    /// By tile, those of its router.
    pub(in crate::cosim) links: Vec<[u32; COUNTERS]>,
    /// By tile, in the order of [`TILE_EVENTS`].
    pub(in crate::cosim) events: Vec<[u32; TILE_EVENTS.len()]>,
    /// By port.
    pub(in crate::cosim) ports: Vec<PortCounts>,
}

impl Moved {
    /// Counters of tiles, and of a memory.
    pub(in crate::cosim) fn of(
        links: &[[u32; COUNTERS]],
        events: &[[u32; TILE_EVENTS.len()]],
        memory: Option<&Memory>,
    ) -> Moved {
        let ports = memory.map(|memory| (0..memory.ports()).map(|port| memory.counts(port)).collect());
        Moved { links: links.to_vec(), events: events.to_vec(), ports: ports.unwrap_or_default() }
    }

    /// The movements since `before`, in words.
    pub(in crate::cosim) fn since(&self, before: &Moved, design: &Design) -> String {
        let mut words = Vec::new();
        for (port, (now, then)) in self.ports.iter().zip(&before.ports).enumerate() {
            let (requests, beats) = (now.requests - then.requests, now.beats - then.beats);
            if requests + beats > 0 {
                words.push(format!("memory port {port} took {requests} requests and sent {beats} beats"));
            }
        }
        let more = |what: Vec<String>, words: &mut Vec<String>| {
            let rest = what.len().saturating_sub(NAMED);
            words.extend(what.into_iter().take(NAMED));
            words.extend((rest > 0).then(|| format!("{rest} more such")));
        };
        more(self.sent(before, design), &mut words);
        more(self.counted(before, design), &mut words);
        match words.is_empty() {
            true => "no memory, no router and no counter of a tile has moved".to_owned(),
            false => words.join("; "),
        }
    }

    /// Routers that sent flits to their neighbours or their tile, the most first.
    fn sent(&self, before: &Moved, design: &Design) -> Vec<String> {
        let mut sent = Vec::new();
        for (tile, (now, then)) in self.links.iter().zip(&before.links).enumerate() {
            for port in Port::ALL {
                for class in Class::ALL {
                    let at = port.index() * COUNTERS_PER_PORT + class as usize;
                    let flits = now[at].wrapping_sub(then[at]);
                    sent.extend((flits > 0).then_some((flits, tile, port, class)));
                }
            }
        }
        sent.sort_by_key(|(flits, tile, ..)| (std::cmp::Reverse(*flits), *tile));
        let words = |(flits, tile, port, class): (u32, usize, Port, Class)| {
            let (x, y) = coords(design, tile);
            format!("router ({x}, {y}) sent {flits} flits of {} to {}", class.name(), port.name())
        };
        sent.into_iter().map(words).collect()
    }

    /// Counters of tiles that moved, the most first.
    fn counted(&self, before: &Moved, design: &Design) -> Vec<String> {
        let mut counted = Vec::new();
        for (tile, (now, then)) in self.events.iter().zip(&before.events).enumerate() {
            for ((name, now), then) in TILE_EVENTS.iter().zip(now).zip(then) {
                let more = now.wrapping_sub(*then);
                counted.extend((more > 0).then_some((more, tile, *name)));
            }
        }
        counted.sort_by_key(|(more, tile, _)| (std::cmp::Reverse(*more), *tile));
        let words = |(more, tile, name): (u32, usize, &str)| {
            let (x, y) = coords(design, tile);
            format!("tile ({x}, {y}) counted {more} of {name}")
        };
        counted.into_iter().map(words).collect()
    }
}

fn coords(design: &Design, tile: usize) -> (u32, u32) {
    design.mesh.nodes().nth(tile).map_or((0, 0), |node: NodeId| design.mesh.coords(node))
}

/// A run's bound, and its counters shortly before.
#[derive(Debug, Clone)]
pub(in crate::cosim) struct Limit {
    bound: Bound,
    begun: u64,
    before: Option<Moved>,
}

impl Limit {
    /// The limit of a run that begins in a cycle.
    pub(in crate::cosim) fn new(bound: Bound, begun: u64) -> Limit {
        Limit { bound, begun, before: None }
    }

    /// True if counters have to be read in this cycle: some time before the bound.
    pub(in crate::cosim) fn is_near(&self, at: u64) -> bool {
        at - self.begun + 2 * WINDOW > self.bound.cycles()
    }

    /// What still moves, once the bound is passed; `now` reads the counters.
    pub(in crate::cosim) fn passed(
        &mut self,
        at: u64,
        design: &Design,
        now: impl FnOnce() -> Moved,
    ) -> Option<String> {
        let passed = at - self.begun;
        if passed + WINDOW <= self.bound.cycles() {
            return None;
        }
        let Some(before) = &self.before else {
            self.before = Some(now());
            return None;
        };
        (passed > self.bound.cycles()).then(|| {
            let (bound, moving) = (&self.bound, now().since(before, design));
            format!("the bound is {bound}\n  in its last {WINDOW} cycles: {moving}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn movements_are_named_by_their_senders() {
        let design = Design::from_config("test", &Config::default()).unwrap();
        let tiles = design.mesh.tiles();
        let none = Moved {
            links: vec![[7; COUNTERS]; tiles],
            events: vec![[7; TILE_EVENTS.len()]; tiles],
            ports: vec![PortCounts::default(); 2],
        };
        assert!(none.since(&none, &design).contains("no counter of a tile has moved"));
        let mut some = none.clone();
        some.links[1][Port::ALL[0].index() * COUNTERS_PER_PORT + Class::ALL[2] as usize] += 9;
        some.events[0][0] += 3;
        some.ports[1] = PortCounts { requests: 4, beats: 64, refused: 0 };
        let said = some.since(&none, &design);
        for words in [
            "port 1 took 4 requests and sent 64 beats",
            "router (1, 0) sent 9 flits",
            "tile (0, 0) counted 3",
        ] {
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn a_limit_is_passed_after_its_bound_and_not_before() {
        let design = Design::from_config("test", &Config::default()).unwrap();
        let bound = Bound::new(&[("it runs", 100)]);
        let (begun, cycles) = (50, bound.cycles());
        let mut limit = Limit::new(bound, begun);
        let ended = (begun..).find(|&at| limit.passed(at, &design, Moved::default).is_some()).unwrap();
        assert_eq!(ended, begun + cycles + 1);
        assert!(!Limit::new(Bound::new(&[]), 0).is_near(1_000) && limit.is_near(ended));
    }
}
