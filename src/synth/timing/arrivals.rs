//! Arrivals: the longest ways from starts to every net, and from every net to ends.

use super::graph::Graph;

/// No way.
pub(super) const NEVER: f64 = f64::NEG_INFINITY;
const NOWHERE: u32 = u32::MAX;

/// The longest way to or from each net.
pub(super) struct Arrivals {
    /// Nanoseconds; [`NEVER`] where there is no way.
    ns: Vec<f64>,
    /// The most levels of any way, which need not be the longest.
    most: Vec<u32>,
    /// The edge on which the longest way goes on; at its last net the start or end, behind all edges.
    via: Vec<u32>,
}

/// A way through a graph.
#[derive(Debug, Clone, Default)]
pub(super) struct Way {
    /// Edges, the first on the way first.
    pub(super) edges: Vec<usize>,
    /// The start or end, by its index.
    pub(super) terminal: usize,
}

impl Arrivals {
    fn new(nets: usize) -> Arrivals {
        Arrivals { ns: vec![NEVER; nets], most: vec![0; nets], via: vec![NOWHERE; nets] }
    }

    /// Longest ways from the starts of a domain to each net's driver.
    pub(super) fn forward(graph: &Graph, domain: usize) -> Arrivals {
        let mut found = Arrivals::new(graph.fanout.len());
        for (index, source) in graph.sources.iter().enumerate().filter(|(_, source)| source.domain == domain)
        {
            let terminal = (graph.edges.len() + index) as u32;
            found.take(source.at.output, source.at.ns, source.at.levels, terminal);
        }
        for net in &graph.order {
            for index in graph.entering(*net) {
                let edge = &graph.edges[index];
                let before = found.ns[edge.from as usize];
                if before > NEVER {
                    let most = found.most[edge.from as usize] + edge.levels;
                    found.take(*net, before + edge.net_ns + edge.ns, most, index as u32);
                }
            }
        }
        found
    }

    /// Longest ways from each net's driver to the ends of a domain.
    pub(super) fn backward(graph: &Graph, domain: usize) -> Arrivals {
        let mut found = Arrivals::new(graph.fanout.len());
        for (index, sink) in graph.sinks.iter().enumerate().filter(|(_, sink)| sink.domain == domain) {
            let terminal = (graph.edges.len() + index) as u32;
            found.take(sink.at.input, sink.net_ns + sink.at.ns, sink.at.levels, terminal);
        }
        for net in graph.order.iter().rev() {
            for index in graph.leaving(*net) {
                let edge = &graph.edges[index];
                let after = found.ns[edge.to as usize];
                if after > NEVER {
                    let most = found.most[edge.to as usize] + edge.levels;
                    found.take(*net, edge.net_ns + edge.ns + after, most, index as u32);
                }
            }
        }
        found
    }

    fn take(&mut self, net: u32, ns: f64, most: u32, via: u32) {
        let net = net as usize;
        self.most[net] = self.most[net].max(most);
        if ns > self.ns[net] {
            (self.ns[net], self.via[net]) = (ns, via);
        }
    }

    /// Longest way to or from a net, in nanoseconds.
    pub(super) fn ns(&self, net: u32) -> Option<f64> {
        Some(self.ns[net as usize]).filter(|ns| *ns > NEVER)
    }

    /// Most levels of any way to or from a net.
    pub(super) fn most(&self, net: u32) -> u32 {
        self.most[net as usize]
    }

    /// The longest way from a start to this net.
    pub(super) fn way_to(&self, graph: &Graph, mut net: u32) -> Way {
        let mut way = Way::default();
        while let Some(edge) = self.edge(graph, net) {
            way.edges.push(edge);
            net = graph.edges[edge].from;
        }
        way.edges.reverse();
        way.terminal = (self.via[net as usize] as usize).saturating_sub(graph.edges.len());
        way
    }

    /// The longest way from this net to an end.
    pub(super) fn way_from(&self, graph: &Graph, mut net: u32) -> Way {
        let mut way = Way::default();
        while let Some(edge) = self.edge(graph, net) {
            way.edges.push(edge);
            net = graph.edges[edge].to;
        }
        way.terminal = (self.via[net as usize] as usize).saturating_sub(graph.edges.len());
        way
    }

    fn edge(&self, graph: &Graph, net: u32) -> Option<usize> {
        Some(self.via[net as usize] as usize).filter(|via| *via < graph.edges.len())
    }
}
