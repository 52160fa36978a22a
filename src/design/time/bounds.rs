//! Bounds: the least cycles that each part of a fabric needs for a load.
//!
//! A [`Forecast`](crate::design::Forecast) has those of a run to come, `eval` those of a run that is over.

use schemars::JsonSchema;
use serde::Serialize;

/// Share of the tightest bound from which a bound counts as near it.
const NEAR: f64 = 0.9;

// Where they are numbers of another type they have another unit, which is named there.
/// Least cycles of the network's clock that each part needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Bounds")]
pub struct Bounds<T = u64> {
    /// All bytes of KV, at the whole bandwidth of the memory: of all its channels, less their refresh. Queries and outputs
    /// count where they share a channel with homes (`memory.io`).
    pub bytes: T,
    /// The busiest port of external memory, at its share of the bandwidth, with queries and outputs in its channel.
    pub memory: T,
    /// The home that streams most flits, one a cycle.
    pub injection: T,
    /// The busiest link from router to router, one flit a cycle.
    pub links: T,
    /// The tile that receives most flits, one a cycle.
    pub ejection: T,
    /// The busiest array: a pass per flit for every `pe.array_rows` contexts that attend; reading
    /// of results.
    pub array: T,
    /// The reduce root with most numbers to merge, one a cycle.
    pub root: T,
}

impl<T: Copy + PartialOrd> Bounds<T> {
    /// Each bound with its name, that of the bytes first.
    pub fn all(&self) -> [(&'static str, T); 7] {
        let [memory, injection, links, ejection, array, root] = self.parts();
        [("bytes", self.bytes), memory, injection, links, ejection, array, root]
    }

    /// The bound of each part of the fabric. Bytes are no part: where they are spread evenly, the busiest port has their
    /// bound.
    fn parts(&self) -> [(&'static str, T); 6] {
        [
            ("memory", self.memory),
            ("injection", self.injection),
            ("links", self.links),
            ("ejection", self.ejection),
            ("array", self.array),
            ("root", self.root),
        ]
    }

    /// Name and bound of the tightest part; of equal ones the first.
    pub fn tightest(&self) -> (&'static str, T) {
        let [first, others @ ..] = self.parts();
        others.into_iter().fold(first, |most, bound| if bound.1 > most.1 { bound } else { most })
    }

    /// Each bound with that of others.
    pub fn zip<U: Copy, V>(&self, others: &Bounds<U>, both: impl Fn(T, U) -> V) -> Bounds<V> {
        Bounds {
            bytes: both(self.bytes, others.bytes),
            memory: both(self.memory, others.memory),
            injection: both(self.injection, others.injection),
            links: both(self.links, others.links),
            ejection: both(self.ejection, others.ejection),
            array: both(self.array, others.array),
            root: both(self.root, others.root),
        }
    }

    /// The bounds in another unit.
    pub fn map<U>(&self, unit: impl Fn(T) -> U) -> Bounds<U> {
        self.zip(self, |bound, _| unit(bound))
    }
}

impl Bounds {
    /// Cycles that no placement of the KV saves: its bytes at the whole bandwidth, or the passes of the busiest array.
    pub fn least(&self) -> u64 {
        self.bytes.max(self.array)
    }

    /// Names of all parts with bounds of at least nine tenths of the tightest, the tightest first, with a `+`
    /// between them. A difference of a tenth says little about which part holds a run up.
    pub fn near_tightest(&self) -> String {
        let least = NEAR * self.tightest().1 as f64;
        let mut near: Vec<_> = self.parts().into_iter().filter(|bound| bound.1 as f64 >= least).collect();
        near.sort_by_key(|bound| std::cmp::Reverse(bound.1));
        near.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join("+")
    }
}

#[cfg(test)]
mod tests {
    use crate::design::time::bounds::*;

    #[test]
    fn all_bounds_near_the_tightest_are_named() {
        let near =
            |memory, links, array| Bounds { memory, links, array, ..Bounds::default() }.near_tightest();
        assert_eq!(near(1000, 899, 900), "memory+array");
        assert_eq!(near(950, 980, 1000), "array+links+memory");
        assert_eq!(near(700, 700, 10), "memory+links");
        assert_eq!(near(1, 0, 0), "memory");
    }

    #[test]
    fn a_port_that_has_all_the_bytes_is_the_tightest_part_and_not_the_least_time() {
        let uneven = Bounds { bytes: 100, memory: 3200, array: 90, ..Bounds::default() };
        assert_eq!((uneven.tightest(), uneven.least()), (("memory", 3200), 100));
        let even = Bounds { bytes: 100, memory: 100, array: 120, ..Bounds::default() };
        assert_eq!((even.near_tightest().as_str(), even.least()), ("array", 120));
        assert_eq!(even.all()[0], ("bytes", 100));
    }
}
