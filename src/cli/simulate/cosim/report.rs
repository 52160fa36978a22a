//! Rows and sweeps as tables.

use crate::cli::output::table;
use crate::cli::simulate::cosim::titles::title;
use crate::design::Design;
use crate::eval::{Row, Sweep};

/// One run, a line for each figure.
pub(super) fn row(design: &Design, row: &Row) -> String {
    let bound = if row.finished { "" } else { ">= " };
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String, unit: &str| {
        lines.push(vec![name.to_owned(), value, unit.to_owned()]);
    };
    line("offered", format!("{:.4}", row.offered), "flits/node/cycle injected");
    if row.offered_deliveries > row.offered {
        line("asked for", format!("{:.4}", row.offered_deliveries), "flits/node/cycle delivered");
    }
    line("accepted", format!("{:.4}", row.accepted), "flits/node/cycle delivered");
    line(
        "latency, mean",
        format!("{:.2}", row.latency_mean),
        &format!("{bound}cycles from the source queue"),
    );
    for (name, mean) in
        [("  in the source queue", row.source_latency_mean), ("  in the network", row.network_latency_mean)]
    {
        if let Some(mean) = mean {
            line(name, format!("{mean:.2}"), "cycles, of what arrived");
        }
    }
    line("latency, median", row.latency_p50.to_string(), "cycles");
    line("latency, 95 %", row.latency_p95.to_string(), "cycles");
    line("latency, 99 %", row.latency_p99.to_string(), "cycles");
    line("latency, 99.9 %", row.latency_p999.to_string(), "cycles");
    line("latency, longest", row.latency_max.to_string(), "cycles");
    if let Some(zero) = row.zero_load_latency {
        line("latency without load", format!("{zero:.2}"), "cycles");
    }
    if let Some(last) = row.last_delivery_mean.filter(|_| row.offered_deliveries > row.offered) {
        line("last delivery, mean", format!("{last:.2}"), "cycles, of what arrived");
    }
    line("longest wait", row.max_wait.to_string(), "cycles from the head of a source queue");
    line("  at most", row.wait_bound.to_string(), "cycles; a longer wait is a violation");
    if let Some(slowest) = row.slowest_source {
        line("slowest source", format!("{slowest:.3}"), "of the mean of all tiles that send");
    }
    line("hops, mean", format!("{:.3}", row.hops_mean), "links");
    line("link traversals", row.link_flits.to_string(), "flits in the window");
    let agree = if row.run_link_flits == row.run_tree_links { "as many as" } else { "unlike" };
    let trees = format!("in the run, {agree} the {} of their trees", row.run_tree_links);
    line("", row.run_link_flits.to_string(), &trees);
    let how = match &row.dut {
        Some(dut) if row.router_cycles_compared.is_some() => format!("{dut} verilated, beside the model"),
        Some(dut) => format!("{dut} verilated"),
        None => "of the model".to_owned(),
    };
    let speed = format!("cycles/s, {how}");
    line("speed", format!("{:.0}", row.cycles_per_second), &speed);
    if let Some(compared) = row.router_cycles_compared {
        line("compared", compared.to_string(), "router-cycles, no difference");
    }
    line("violations", row.violations.to_string(), "");
    let state = match (row.finished, row.saturated) {
        (false, _) => "saturated: the sample did not arrive within the limits, latencies are lower bounds\n",
        (true, true) => "saturated: latency is over three times that without load\n",
        (true, false) => "",
    };
    format!("{}\n{}{state}", title(design, row), table::columns(&lines))
}

/// A sweep, a line for each load.
pub(super) fn sweep(design: &Design, sweep: &Sweep) -> String {
    let head = ["offered", "accepted", "mean", "median", "95 %", "99 %", "99.9 %", "longest", "cycles/s", ""];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in &sweep.points {
        let bound = if row.finished { "" } else { "+" };
        lines.push(vec![
            format!("{:.4}", row.load.unwrap_or(row.offered)),
            format!("{:.4}", row.accepted),
            format!("{:.2}{bound}", row.latency_mean),
            format!("{}{bound}", row.latency_p50),
            format!("{}{bound}", row.latency_p95),
            format!("{}{bound}", row.latency_p99),
            format!("{}{bound}", row.latency_p999),
            format!("{}{bound}", row.latency_max),
            format!("{:.0}", row.cycles_per_second),
            if row.saturated { "saturated" } else { "" }.to_owned(),
        ]);
    }
    let saturation = match sweep.saturation {
        Some(load) => format!("saturation {load} (+- {:.4})", sweep.resolution),
        None => "no saturation in this range".to_owned(),
    };
    let title = sweep.points.first().map_or(String::new(), |row| title(design, row));
    format!(
        "{title}\n{}\n  {saturation}: mean latency below {:.2} cycles, {:.2} without load\n  \
         accepted at full offer {:.4} flits/node/cycle\n  violations {}\n",
        table::columns(&lines),
        sweep.latency_limit,
        sweep.zero_load_latency,
        sweep.accepted_at_full_offer,
        sweep.violations
    )
}
