//! The bounds of a run as a table: a row for the time in which KV flows, one for the whole run.

use crate::cli::output::table;
use crate::eval::Phase;

/// Imbalance that prose does not mention.
const EVEN: f64 = 0.02;

/// A table of both phases: cycles, rate of KV, its shares of the memory's bandwidth, and the bound of each part in cycles;
/// the distance from the bound, and the `imbalance` of the memory ports.
pub(in crate::cli) fn prose(kv: &Phase, total: &Phase, imbalance: f64) -> String {
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
        "Rate of KV, its share of the memory's bandwidth, and the least cycles of all bytes and of each part:\n",
    );
    out += &table::columns(&[head, row("KV phase", kv), row("total", total)]);
    let what = if bounds.bytes >= bounds.array { "bytes" } else { "array" };
    out += &format!("Bound by {near}: {} cycles at least\n", bounds.tightest().1);
    out += &format!("The run takes {over:.3} times its bound: {} cycles of {what}\n", bounds.least());
    if imbalance - 1.0 > EVEN {
        out +=
            &format!("The fullest memory port reads {imbalance:.2} times the mean of all that have a home\n");
    }
    out
}
