//! Nets with the most pins: the pins that a reset, an enable or a select reaches within one cycle.

use super::paths::{word, Naming};
use crate::synth::netlist::modules::Port;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Number of nets that a report has.
const MOST_NETS: usize = 10;

/// A net with the pins that it drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Net {
    /// Its name; where synthesis made it, a register that it ends at.
    pub net: String,
    /// Type of the cell or module that drives it.
    pub driver: String,
    /// Pins that it drives.
    pub fanout: u32,
}

impl Net {
    /// The same net, named from above the instance that it is in.
    pub(super) fn below(&self, instance: &str) -> Net {
        let net = match self.net.strip_prefix("to ") {
            Some(end) => format!("to {instance}.{end}"),
            None => format!("{instance}.{}", self.net),
        };
        Net { net, ..self.clone() }
    }
}

/// The nets of a graph that drive the most pins, without clocks. Of a part, `inside`, those of its ports belong to the
/// assembly.
pub(super) fn most(naming: &Naming, inside: bool) -> Vec<Net> {
    let graph = naming.graph;
    let netlist = graph.netlist;
    let of_ports: BTreeSet<u32> = match inside {
        true => netlist.ports.iter().flat_map(Port::nets).collect(),
        false => BTreeSet::new(),
    };
    let mut largest: Vec<(u32, u32, &str)> = Vec::new();
    for cell in &netlist.cells {
        for net in cell.outputs().flat_map(Port::nets).filter(|net| !of_ports.contains(net)) {
            let kind = cell.kind.rsplit('\\').next().unwrap_or_default();
            largest.push((graph.fanout[net as usize], net, kind));
        }
    }
    largest.sort_by_key(|(fanout, net, _)| (std::cmp::Reverse(*fanout), *net));
    // Names cost a search: more than the report needs, because the same word comes once.
    let named = largest.iter().take(64 * MOST_NETS).map(|(fanout, net, driver)| Net {
        net: naming.of_net(*net),
        driver: (*driver).to_owned(),
        fanout: *fanout,
    });
    merged(named)
}

/// The largest of several lists, one net of each word.
pub(super) fn merged(all: impl IntoIterator<Item = Net>) -> Vec<Net> {
    let mut nets: Vec<_> = all.into_iter().collect();
    nets.sort_by(|a, b| b.fanout.cmp(&a.fanout).then_with(|| a.net.cmp(&b.net)));
    let mut seen = BTreeSet::new();
    nets.retain(|net| seen.insert(word(&net.net)));
    nets.truncate(MOST_NETS);
    nets
}
