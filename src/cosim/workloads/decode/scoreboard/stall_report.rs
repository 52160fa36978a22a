//! Report of the jobs, flits and packets that tiles wait for, for a run that is stuck or has lost something.

use super::ledger::DecodeScoreboard;
use super::tile_account::Account;
use crate::cosim::workloads::SliceId;
use std::collections::VecDeque;

impl DecodeScoreboard<'_> {
    /// Lists, in words, jobs, flits and packets that tiles wait for; the first few of each kind.
    pub(in crate::cosim::workloads::decode) fn waiting(&self) -> String {
        let mut words = Vec::new();
        let mut flits: Vec<_> = self
            .accounts
            .iter()
            .enumerate()
            .flat_map(|(t, a)| {
                a.open
                    .iter()
                    .flat_map(move |(tag, open)| open.iter().map(move |a| (t, a.descriptor, *tag, a.next())))
            })
            .collect();
        flits.sort_unstable();
        if !flits.is_empty() {
            let shown = flits.iter().take(4).map(|(tile, _, tag, next)| {
                let SliceId { stream, layer, segment, slice } = SliceId::of_tag(self.design, *tag);
                format!("tile {tile} for flit {next} of slice {slice} of segment {segment}, layer {layer}, stream {stream}")
            });
            words.push(format!(
                "{} slices are awaited ({})",
                flits.len(),
                shown.collect::<Vec<_>>().join(", ")
            ));
        }
        let untold = |(tile, a): (usize, &Account)| {
            let jobs: usize = a.to_tell.iter().map(|t| t.slices.len()).sum();
            let closes = a.to_tell.iter().filter(|t| t.close.as_ref().is_some_and(|p| !p.is_empty())).count();
            (jobs + closes > 0).then(|| format!("tile {tile}: {jobs} jobs and {closes} closes"))
        };
        let untold: Vec<_> = self.accounts.iter().enumerate().filter_map(untold).collect();
        if !untold.is_empty() {
            words.push(format!(
                "{} tiles are not told all their jobs ({})",
                untold.len(),
                untold[..untold.len().min(4)].join(", ")
            ));
        }
        let unresolved = self.descriptors.len() - self.resolved;
        if unresolved > 0 {
            words.push(format!("no tile has heard of the last {unresolved} descriptors"));
        }
        words.extend(self.parts.waiting());
        let outputs: usize = self.outputs.values().map(VecDeque::len).sum();
        if outputs > 0 {
            words.push(format!("{outputs} outputs have not left the roots"));
        }
        if words.is_empty() {
            "nobody waits for anything".to_owned()
        } else {
            words.join("; ")
        }
    }
}
