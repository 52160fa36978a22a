//! A directed graph of waits: finds its topological order, or else its shortest cycle.
//!
//! It is independent of fabrics: a vertex is any type that can be sorted.

use std::collections::{BTreeSet, VecDeque};

/// Waits between vertices. Vertices are sorted, so that the same input always gives the same answer.
#[derive(Debug, Clone)]
pub struct Graph<V> {
    vertices: Vec<V>,
    /// By index of the vertex: the indices that it waits for.
    after: Vec<Vec<usize>>,
}

impl<V: Ord + Copy> Graph<V> {
    /// A graph of `vertices` and `waits`, each `(waiting, awaited)`; the ends of a wait are vertices too.
    pub fn new(vertices: impl IntoIterator<Item = V>, waits: &BTreeSet<(V, V)>) -> Graph<V> {
        let ends = waits.iter().flat_map(|&(a, b)| [a, b]);
        let vertices: BTreeSet<V> = vertices.into_iter().chain(ends).collect();
        let vertices: Vec<V> = vertices.into_iter().collect();
        let place = |v: &V| vertices.partition_point(|other| other < v);
        let mut after = vec![Vec::new(); vertices.len()];
        for (a, b) in waits {
            after[place(a)].push(place(b));
        }
        Graph { vertices, after }
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertices.len()
    }

    /// Number of waits.
    pub fn edges(&self) -> usize {
        self.after.iter().map(Vec::len).sum()
    }

    /// Vertices on the longest chain of waits; none when some chain has no end, which is a cycle.
    pub fn longest_chain(&self) -> Option<usize> {
        let (rank, ordered) = self.ranks();
        (ordered == self.vertices()).then(|| rank.into_iter().max().unwrap_or(0))
    }

    /// A shortest cycle, in the order of its waits and starting at its lowest vertex; none if acyclic.
    pub fn shortest_cycle(&self) -> Option<Vec<V>> {
        let mut shortest: Option<Vec<usize>> = None;
        for start in 0..self.vertices() {
            let bound = shortest.as_ref().map_or(usize::MAX, Vec::len);
            shortest = self.cycle_through(start, bound).or(shortest);
        }
        shortest.map(|cycle| cycle.into_iter().map(|v| self.vertices[v]).collect())
    }

    /// Topological order: repeatedly removes vertices that no other waits for (Kahn 1962). Returns for each
    /// vertex the length of the longest chain that ends with it, and the number of ordered vertices.
    fn ranks(&self) -> (Vec<usize>, usize) {
        let mut before = vec![0; self.vertices()];
        for &b in self.after.iter().flatten() {
            before[b] += 1;
        }
        let mut rank = vec![1; self.vertices()];
        let mut ready: Vec<usize> = (0..self.vertices()).filter(|&v| before[v] == 0).collect();
        let mut ordered = 0;
        while let Some(a) = ready.pop() {
            ordered += 1;
            for &b in &self.after[a] {
                rank[b] = rank[b].max(rank[a] + 1);
                before[b] -= 1;
                if before[b] == 0 {
                    ready.push(b);
                }
            }
        }
        (rank, ordered)
    }

    /// A shortest cycle of fewer than `bound` vertices, `start` the lowest of them. Searching each cycle only
    /// from its lowest vertex saves most of the search.
    fn cycle_through(&self, start: usize, bound: usize) -> Option<Vec<usize>> {
        let mut from = vec![None; self.vertices()];
        let mut reached = VecDeque::from([(start, 1)]);
        while let Some((a, length)) = reached.pop_front() {
            if length >= bound {
                return None;
            }
            for &b in &self.after[a] {
                if b == start {
                    return Some(way_back(&from, start, a));
                }
                if b > start && from[b].is_none() {
                    from[b] = Some(a);
                    reached.push_back((b, length + 1));
                }
            }
        }
        None
    }
}

/// The path from `start` to `end` that a search found.
fn way_back(from: &[Option<usize>], start: usize, end: usize) -> Vec<usize> {
    let mut way: Vec<usize> = std::iter::successors(Some(end), |&v| from[v]).collect();
    way.reverse();
    debug_assert_eq!(way.first(), Some(&start));
    way
}

#[cfg(test)]
mod tests {
    use crate::design::network::deadlock::graph::*;

    fn graph(waits: &[(u32, u32)]) -> Graph<u32> {
        Graph::new([], &waits.iter().copied().collect())
    }

    #[test]
    fn a_chain_is_as_long_as_its_longest_way() {
        let graph = graph(&[(1, 2), (2, 3), (1, 3), (3, 9), (4, 9)]);
        assert_eq!((graph.vertices(), graph.edges()), (5, 5));
        assert_eq!(graph.longest_chain(), Some(4));
        assert_eq!(graph.shortest_cycle(), None);
    }

    #[test]
    fn the_shortest_of_several_cycles_is_found() {
        let graph = graph(&[(1, 2), (2, 3), (3, 4), (4, 1), (4, 5), (5, 7), (7, 4), (0, 1)]);
        assert_eq!(graph.longest_chain(), None);
        assert_eq!(graph.shortest_cycle(), Some(vec![4, 5, 7]));
    }

    #[test]
    fn what_waits_for_itself_is_a_cycle_of_one() {
        assert_eq!(graph(&[(1, 2), (2, 2)]).shortest_cycle(), Some(vec![2]));
    }

    #[test]
    fn vertices_without_waits_are_counted() {
        let graph = Graph::new([8, 9], &BTreeSet::new());
        assert_eq!((graph.vertices(), graph.longest_chain()), (2, Some(1)));
    }
}
