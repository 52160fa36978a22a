//! Pictures and page of one run of traffic, or of a sweep of loads.

use crate::cli::simulate::cosim::titles::{heatmap, title};
use crate::design::Design;
use crate::eval::report::{Figure, RunPage, RunTable};
use crate::eval::{self, Row, Sweep};

/// Links in the table of a page.
const LISTED: usize = 20;

/// The pictures of a run.
///
/// # Errors
/// If one cannot be drawn.
fn figures(design: &Design, row: &Row) -> anyhow::Result<Vec<Figure>> {
    let title = match row.load {
        Some(load) => format!("{}, offered load {load}", title(design, row)),
        None => title(design, row),
    };
    let latency = format!(
        "Latencies of the sample from source queue to ejection, one a packet and destination: median {} cycles, 95 % \
         within {}, 99 % within {}, 99.9 % within {}, the longest {}.",
        row.latency_p50, row.latency_p95, row.latency_p99, row.latency_p999, row.latency_max
    );
    let busiest = row.link_times.busiest();
    let over_time = format!(
        "Flits a cycle of each directed link in windows of {} cycles; the busiest window has {busiest:.3}. Within a \
         direction, links follow each other by row and then by column of the sender.",
        row.link_times.cycles
    );
    let links = "Flits a cycle of each directed link, and in the tiles deliveries a cycle, over the window.";
    Ok(vec![
        Figure::new("link-utilisation", heatmap(design, row)?, links.to_owned()),
        Figure::new("latency-distribution", eval::distribution(&title, row)?, latency),
        Figure::new("link-time", eval::link_time(&title, design.mesh, &row.link_times)?, over_time),
    ])
}

/// The page of a run.
///
/// # Errors
/// If a picture cannot be drawn.
pub(super) fn of_run(design: &Design, row: &Row) -> anyhow::Result<RunPage> {
    let mut tables = vec![latencies(&[row])];
    tables.push(links(row));
    page(design, row, row.command.clone(), figures(design, row)?, tables)
}

/// The page of a sweep, with the links and latencies of the run `shown`.
///
/// # Errors
/// If a picture cannot be drawn.
pub(super) fn of_sweep(
    design: &Design,
    sweep: &Sweep,
    shown: &Row,
    command: String,
) -> anyhow::Result<RunPage> {
    let curve = eval::latency_plot(&title(design, shown), sweep)?;
    let saturation = match sweep.saturation {
        Some(load) => format!("Saturation at a load of {load}, within {:.4}.", sweep.resolution),
        None => "No load of the range saturates the network.".to_owned(),
    };
    let caption = format!("Latency over offered load, on a logarithmic axis. {saturation}");
    let accepted = eval::accepted_plot(&title(design, shown), sweep)?;
    let taken = "Flits delivered of those that the sample asks for, a node and cycle. On the dashed line all of them are.";
    let mut all = vec![
        Figure::new("latency-load", curve, caption),
        Figure::new("accepted-offered", accepted, taken.to_owned()),
    ];
    all.extend(figures(design, shown)?);
    let tables = vec![latencies(&sweep.points.iter().collect::<Vec<_>>()), links(shown)];
    page(design, shown, command, all, tables)
}

fn page(
    design: &Design,
    row: &Row,
    command: String,
    figures: Vec<Figure>,
    tables: Vec<RunTable>,
) -> anyhow::Result<RunPage> {
    let mut warnings = Vec::new();
    if !row.finished {
        warnings.push("The sample did not arrive within the limits: latencies are lower bounds.".to_owned());
    }
    if row.violations > 0 {
        warnings.push(format!("{} violations: the fabric was wrong.", row.violations));
    }
    Ok(RunPage { title: title(design, row), subtitle: String::new(), command, warnings, figures, tables })
}

fn latencies(rows: &[&Row]) -> RunTable {
    let head =
        ["offered load", "accepted rate", "mean", "p50", "p95", "p99", "p99.9", "longest", "without load"];
    let row = |row: &&Row| {
        let load = row.load.map_or("trace".to_owned(), |load| format!("{load}"));
        let numbers = [row.latency_p50, row.latency_p95, row.latency_p99, row.latency_p999, row.latency_max];
        let mut cells = vec![load, format!("{:.4}", row.accepted), format!("{:.2}", row.latency_mean)];
        cells.extend(numbers.map(|cycles| cycles.to_string()));
        cells.push(row.zero_load_latency.map_or("-".to_owned(), |zero| format!("{zero:.2}")));
        cells
    };
    RunTable {
        title:
            "Latency in cycles; load in injected flits/sending node/cycle, rate in delivered flits/node/cycle"
                .to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: rows.iter().map(row).collect(),
    }
}

fn links(row: &Row) -> RunTable {
    let mut links: Vec<_> = row.links.iter().collect();
    links.sort_by_key(|link| std::cmp::Reverse(link.flits()));
    let share = |cycles: u32| format!("{:.1}", 100.0 * f64::from(cycles) / row.window.max(1) as f64);
    let cells = |link: &&crate::eval::LinkRow| {
        let name = format!("{:?} to {:?}", link.from, link.to);
        let flits = [link.part, link.kv_fetch, link.kv_data].map(|flits| flits.to_string());
        [vec![name], flits.to_vec(), vec![share(link.flits()), share(link.blocked)]].concat()
    };
    RunTable {
        title: format!("The busiest of {} links, in the window of {} cycles", links.len(), row.window),
        head: ["link", "PART", "KV_FETCH", "KV_DATA", "% of cycles in use", "% of cycles without credit"]
            .map(str::to_owned)
            .to_vec(),
        rows: links.iter().take(LISTED).map(cells).collect(),
    }
}
