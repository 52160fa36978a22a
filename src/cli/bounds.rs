//! The bounds of a run as a table: a row for the time in which KV flows, one for the whole run.

use super::table;
use crate::eval::Phase;

/// A table of both phases: cycles, rate of KV, its shares of the memory's bandwidth, and the bound of each part in cycles.
pub(super) fn prose(kv: &Phase, total: &Phase) -> String {
    let bounds = &total.bounds;
    let text = |text: &str| text.to_owned();
    let mut head =
        vec![text(""), text("cycles"), text("KV GB/s"), text("share"), text("of what refresh leaves")];
    head.extend(bounds.all().map(|(name, _)| text(name)));
    let row = |name: &str, phase: &Phase| {
        let mut row = vec![
            text(name),
            phase.cycles.to_string(),
            format!("{:.1}", phase.kv_gbs),
            format!("{:.1} %", 100.0 * phase.share),
            format!("{:.1} %", 100.0 * phase.share_left),
        ];
        row.extend(phase.bounds.all().map(|(_, cycles)| cycles.to_string()));
        row
    };
    let (near, over) = (bounds.near_tightest().replace('+', ", "), total.over_bound());
    let mut out = String::from(
        "Rate of KV, its share of the memory's bandwidth, and the least cycles that each part needs:\n",
    );
    out += &table::columns(&[head, row("KV phase", kv), row("total", total)]);
    let tightest = bounds.tightest().1;
    out + &format!("Bound by {near}: {tightest} cycles at least; the run takes {over:.3} times as many\n")
}
