//! Statistics of a measurement: latencies of the sample, throughput of the window.
//!
//! A latency is taken for each packet and each of its destinations, to the ejection of the packet's
//! last flit there. It begins with the generation, so that the wait in the source queue counts.

use super::phases::Phases;
use crate::cosim::checks::scoreboard::Arrival;
use crate::cosim::dut::network::Ejection;
use crate::cosim::traffic::packet::Packet;
use crate::design::{Class, Design, DestKind, Mesh};
use serde::Serialize;
use std::ops::Range;

/// Number of buckets. Longer latencies share the last one; mean and maximum stay exact.
const BUCKETS: u64 = 1 << 16;

/// Histogram of cycles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u64,
    max: u64,
}

/// Values of a histogram in a range of cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Bin {
    /// First value.
    pub from: u64,
    /// First value that is not in it.
    pub to: u64,
    /// Number of values.
    pub count: u64,
}

/// Bins of a histogram, about.
const BINS: u64 = 48;

impl Histogram {
    /// All values in some dozens of bins without gaps, from the smallest to the largest value. Bins are a cycle
    /// wide, or rise by a constant factor if the values spread more.
    pub fn bins(&self) -> Vec<Bin> {
        let Some(first) = self.buckets.iter().position(|&n| n > 0) else { return Vec::new() };
        let (first, end) = (first as u64, self.max + 1);
        let factor = (end as f64 / first.max(1) as f64).powf(1.0 / BINS as f64);
        let mut bins = Vec::new();
        let mut from = first;
        while from < end {
            let width =
                if end - first <= BINS { 1 } else { (from as f64 * (factor - 1.0)).round().max(1.0) as u64 };
            // The last bucket has all longer values.
            let to = (from + width).min(end);
            let to = if to >= BUCKETS { end } else { to };
            let buckets = self.buckets.iter().skip(from as usize).take((to - from) as usize);
            bins.push(Bin { from, to, count: buckets.sum() });
            from = to;
        }
        bins
    }

    /// Adds one value.
    pub fn add(&mut self, cycles: u64) {
        let bucket = cycles.min(BUCKETS - 1) as usize;
        if bucket >= self.buckets.len() {
            self.buckets.resize((bucket + 1).next_power_of_two(), 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.sum += cycles;
        self.max = self.max.max(cycles);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean of the values; `None` without values.
    pub fn known_mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.mean())
    }

    /// Mean; 0 without values.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// Largest value; 0 without values.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Smallest value that at least `share` (0 to 1) of all values do not exceed; 0 without values.
    pub fn percentile(&self, share: f64) -> u64 {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (value, &n) in self.buckets.iter().enumerate() {
            seen += n;
            if seen >= wanted {
                // The last bucket contains all longer values.
                return if value as u64 == BUCKETS - 1 { self.max } else { value as u64 };
            }
        }
        0
    }
}

/// Sums over the sample and over the window.
#[derive(Debug)]
pub(in crate::cosim) struct Sample {
    /// Cycles in which deliveries count towards the throughput.
    pub window: Range<u64>,
    mesh: Mesh,
    dest_kind: DestKind,
    /// Flits to inject for packets generated in the window.
    pub injected: u64,
    /// Deliveries due to the same packets, flit by flit.
    pub asked: u64,
    /// Packets and destinations of the sample, and hops between them.
    pairs: u64,
    hops: u64,
    /// Pairs still to come, and the sum of the cycles they were generated in.
    pub missing: u64,
    missing_generated: u64,
    /// True if later arrivals do not count.
    closed: bool,
    /// See [`super::measure::Measured`].
    pub latency: Histogram,
    /// See [`super::measure::Measured`].
    pub source_latency: Histogram,
    /// See [`super::measure::Measured`].
    pub network_latency: Histogram,
    /// See [`super::measure::Measured`].
    pub last_delivery: Histogram,
    /// See [`super::measure::Measured`].
    pub max_wait: u64,
    /// Flits ejected at each tile in the window.
    pub delivered: Vec<u64>,
    /// Flits of each tile that reached a destination in the window; `None` if it has generated nothing.
    pub sent: Vec<Option<u64>>,
}

impl Sample {
    pub fn new(design: &Design, phases: &Phases) -> Sample {
        Sample {
            window: phases.warmup..phases.warmup + phases.measure,
            mesh: design.mesh,
            dest_kind: design.flit.dest_kind,
            injected: 0,
            asked: 0,
            pairs: 0,
            hops: 0,
            missing: 0,
            missing_generated: 0,
            closed: false,
            latency: Histogram::default(),
            source_latency: Histogram::default(),
            network_latency: Histogram::default(),
            last_delivery: Histogram::default(),
            max_wait: 0,
            delivered: vec![0; design.mesh.tiles()],
            sent: vec![None; design.mesh.tiles()],
        }
    }

    /// Notes a packet of the sample at its generation; others are ignored.
    pub fn generated(&mut self, packet: &Packet) {
        if !packet.measured {
            return;
        }
        self.sent[packet.source.index()].get_or_insert(0);
        let pairs = u64::from(packet.dests.len());
        let copies = if self.dest_kind == DestKind::Set || packet.class != Class::KvData { 1 } else { pairs };
        self.injected += u64::from(packet.flits) * copies;
        self.asked += u64::from(packet.flits) * pairs;
        self.pairs += pairs;
        self.missing += pairs;
        self.missing_generated += pairs * packet.cycle;
        let hops =
            |index: usize| self.mesh.node_at(index).map_or(0, |tile| self.mesh.hops(packet.source, tile));
        self.hops += match packet.dests.only() {
            Some(only) => u64::from(hops(only)),
            None => packet.dests.iter().map(|index| u64::from(hops(index))).sum(),
        };
    }

    /// Notes a flit at a tile, correct or not.
    pub fn ejected(&mut self, e: &Ejection<'_>) {
        if self.window.contains(&e.cycle) {
            self.delivered[e.tile.index()] += 1;
        }
    }

    /// Notes a flit that arrived as it should; true if a tile has all of a packet of the sample with it.
    pub fn arrived(&mut self, arrival: &Arrival, cycle: u64) -> bool {
        self.max_wait = self.max_wait.max(cycle - arrival.headed);
        if let Some(sent) =
            self.sent[arrival.source.index()].as_mut().filter(|_| self.window.contains(&cycle))
        {
            *sent += 1;
        }
        if !arrival.measured || self.closed {
            return false;
        }
        if arrival.last {
            self.missing -= 1;
            self.missing_generated -= arrival.generated;
            self.latency.add(cycle - arrival.generated);
            self.source_latency.add(arrival.entered - arrival.generated);
            self.network_latency.add(cycle - arrival.entered);
        }
        if arrival.complete {
            self.last_delivery.add(cycle - arrival.generated);
        }
        arrival.last
    }

    /// Closes the sample. Missing packets are given up and count with their age.
    pub fn abandon(&mut self, generated: impl Iterator<Item = u64>, now: u64) {
        for cycle in generated {
            self.latency.add(now - cycle);
        }
        self.missing = 0;
        self.closed = true;
    }

    /// A lower bound of the sample's mean latency: missing packets come no earlier than `now`.
    pub fn mean_at_least(&self, now: u64) -> f64 {
        let missing = (self.missing * now - self.missing_generated) as f64;
        (self.latency.sum as f64 + missing) / self.pairs.max(1) as f64
    }

    /// Share of the slowest source in the window over the mean of all tiles that send; `None` if nothing came.
    pub fn slowest_source(&self) -> Option<f64> {
        let sent: Vec<_> = self.sent.iter().flatten().copied().collect();
        let (least, total) = (*sent.iter().min()?, sent.iter().sum::<u64>());
        (total > 0).then(|| least as f64 * sent.len() as f64 / total as f64)
    }

    /// Mean hops between source and destination.
    pub fn hops_mean(&self) -> f64 {
        self.hops as f64 / self.pairs.max(1) as f64
    }

    /// Flits of the window for each tile and cycle.
    pub fn per_node_cycle(&self, flits: u64) -> f64 {
        flits as f64 / (self.window.end - self.window.start).max(1) as f64 / self.mesh.tiles() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_added() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.percentile(0.5), histogram.max(), histogram.mean()), (0, 0, 0.0));
        for value in 1..=100 {
            histogram.add(value);
        }
        assert_eq!(histogram.percentile(0.5), 50);
        assert_eq!(histogram.percentile(0.99), 99);
        assert_eq!(histogram.percentile(1.0), 100);
        assert_eq!(histogram.mean(), 50.5);
    }

    #[test]
    fn bins_have_every_value_once_and_no_gap() {
        let mut few = Histogram::default();
        [7, 9, 9].into_iter().for_each(|value| few.add(value));
        let bin = |from, count| Bin { from, to: from + 1, count };
        assert_eq!(few.bins(), [bin(7, 1), bin(8, 0), bin(9, 2)]);
        let mut wide = Histogram::default();
        (4..5000).for_each(|value| wide.add(value));
        wide.add(1_000_000);
        let bins = wide.bins();
        assert!((20..=60).contains(&bins.len()), "{}", bins.len());
        assert!(bins.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), wide.count());
        assert_eq!((bins[0].from, bins.last().unwrap().to), (4, 1_000_001));
        assert!(Histogram::default().bins().is_empty());
    }

    #[test]
    fn values_beyond_the_buckets_keep_mean_and_maximum_exact() {
        let mut histogram = Histogram::default();
        histogram.add(10);
        histogram.add(1_000_000);
        assert_eq!(histogram.max(), 1_000_000);
        assert_eq!(histogram.mean(), 500_005.0);
        assert_eq!(histogram.percentile(0.99), 1_000_000);
    }
}
