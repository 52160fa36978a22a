//! `meshkv check`: validates a configuration and prints what follows from it.

mod deadlock;
mod placement;

use super::table;
use super::ui::Ui;
use super::whole_file;
use crate::config::{Report, Severity};
use crate::design::deadlock::Rules;
use crate::design::{Class, Design, DestKind, Staging};
use crate::eval;
use serde::Serialize;
use serde_json::{json, Value};
use std::path::PathBuf;
use std::process::ExitCode;

/// Validate a configuration and print what follows from it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv check configs/tiny.toml
  meshkv check configs/tiny.toml --json | jq .blocks_per_tile
  meshkv check configs/u280_8x8.toml --deadlock
  meshkv check configs/meshkv.toml --placement --svg placement.svg")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,
    /// Also build the graph of which buffer can wait for which, through routers and tiles, and
    /// look for cycles: within each class of flit, and from requests to replies. With a cycle
    /// the exit code is 1
    #[arg(long)]
    deadlock: bool,
    /// Also show where macro-blocks land: how many each tile homes, and where the first segments
    /// of the first layers live
    #[arg(long)]
    placement: bool,
    /// Write that as a picture, too; an existing file is replaced
    #[arg(long, value_name = "FILE", requires = "placement", value_hint = clap::ValueHint::FilePath)]
    svg: Option<PathBuf>,
}

/// One bundle of wires, or one field of the `head` bundle in one class of flit.
#[derive(Debug, Serialize)]
struct Row {
    /// `data`, `dest`, `column_dest` or `head`.
    bundle: &'static str,
    /// Class the field belongs to; `all` for bundles that every class has.
    class: &'static str,
    name: &'static str,
    offset: u32,
    width: u32,
    doc: &'static str,
}

/// Runs the subcommand.
///
/// # Errors
/// All problems of the configuration; or when standard output or the picture cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, warnings) = super::load::load_for_the_card(&args.config, ui)?;
    let found = args.deadlock.then(|| crate::design::deadlock::check(&design, &Rules::of(&design)));
    let (rows, facts) = (flit_rows(&design), facts(&design));
    let mut value = as_json(&design, &rows, &facts, &warnings);
    if let Some(found) = &found {
        value["deadlock"] = deadlock::as_json(found);
    }
    if args.placement {
        value["placement"] = placement::as_json(&design);
    }
    if let Some(path) = &args.svg {
        whole_file::spares(path, &[("the configuration", &args.config)])?;
        whole_file::write(path, eval::placement_picture(&design).as_bytes(), true)?;
        ui.note(format_args!("wrote {}", path.display()));
    }
    ui.result(&value, || {
        let waits = found.as_ref().map(deadlock::prose).unwrap_or_default();
        let homes = if args.placement { placement::prose(&design) } else { String::new() };
        format!("{}{waits}{homes}", prose(&design, &rows, &facts))
    })?;
    ui.next(format_args!("meshkv generate {}", args.config.display()));
    let failed = found.is_some_and(|found| !deadlock::acyclic(&found));
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Counts, by their name in JSON and prose, with their unit or meaning.
fn facts(design: &Design) -> Vec<(&'static str, u64, &'static str)> {
    let (mesh, router) = (design.mesh, design.router);
    let (cols, rows) = (u64::from(mesh.cols()), u64::from(mesh.rows()));
    let buffered = mesh.tiles() as u64 * 5 * u64::from(router.vcs()) * u64::from(router.vc_depth);
    let staging = Staging::new(&design.config);
    vec![
        ("tiles", cols * rows, "routers, each with its tile"),
        ("links", 2 * ((cols - 1) * rows + (rows - 1) * cols), "router to router, each direction counted"),
        ("vcs", router.vcs().into(), "virtual channels of a port"),
        ("buffer_flits", buffered, "flits the routers can hold"),
        ("flit_bits", design.flit.width().into(), "bits of a flit on a row link: data, head, dest"),
        ("takv_a", design.takv_a.into(), "placement stride a"),
        ("blocks_per_tile", design.blocks_per_tile.into(), "macro-blocks a tile must home (N_max)"),
        (
            "segments",
            crate::design::segments(&design.config).into(),
            "segments of a layer at the longest context",
        ),
        ("slice_flits", crate::design::slice_flits(&design.config).into(), "flits of one slice, K and V"),
        ("window_flits", staging.window_flits.into(), "flits of one staging window"),
        ("slice_bytes", design.memory.slice_bytes, "bytes of one slice in external memory"),
        ("memory_ports", design.memory.ports.into(), "AXI4 read masters"),
        ("tiles_per_port", design.memory.tiles_per_port.into(), "tiles of a row that share one of them"),
        ("memory_addr_bits", design.memory.addr_width.into(), "bits of an address there"),
        ("uram", cols * rows * u64::from(design.config.kv.uram_per_tile), "URAM288 of all tiles"),
    ]
}

fn flit_rows(design: &Design) -> Vec<Row> {
    let flit = &design.flit;
    let (set, column) = match flit.dest_kind {
        DestKind::Set => ("destination set, bit y * cols + x", "the set on column links, bit y"),
        DestKind::Coord => ("destination {y, x}", "the destination on column links, y"),
    };
    let bundle = |name, width, doc| Row { bundle: name, class: "all", name, offset: 0, width, doc };
    let mut rows = vec![
        bundle("data", flit.data_width, "payload"),
        bundle("dest", flit.dest_width, set),
        bundle("column_dest", flit.column_dest_width, column),
    ];
    for class in Class::ALL {
        rows.extend(flit.fields(class).iter().map(|field| Row {
            bundle: "head",
            class: class.name(),
            name: field.name,
            offset: field.offset,
            width: field.width,
            doc: field.doc,
        }));
    }
    rows
}

fn as_json(design: &Design, rows: &[Row], facts: &[(&str, u64, &str)], warnings: &Report) -> Value {
    let mut value = json!({ "name": design.name, "cols": design.mesh.cols(), "rows": design.mesh.rows() });
    for (name, number, _) in facts {
        value[name] = json!(number);
    }
    value["multicast"] = json!(design.router.multicast);
    value["flit"] = json!(rows);
    let warnings = warnings.problems.iter().filter(|p| p.severity == Severity::Warning);
    let warnings = warnings.map(|p| {
        let (line, column) = p.place.unzip();
        json!({ "line": line, "column": column, "message": p.message, "help": p.help })
    });
    value["warnings"] = warnings.collect();
    value
}

fn prose(design: &Design, rows: &[Row], facts: &[(&str, u64, &str)]) -> String {
    let mesh = design.mesh;
    let facts = facts
        .iter()
        .map(|(name, number, doc)| vec![(*name).to_owned(), number.to_string(), (*doc).to_owned()]);
    let heading = ["bundle", "class", "field", "bits", "width", "meaning"].map(str::to_owned).to_vec();
    let fields = rows.iter().map(|row| {
        let bits = match row.width {
            1 => format!("[{}]", row.offset),
            width => format!("[{}:{}]", row.offset + width - 1, row.offset),
        };
        let [bundle, class, name, doc] = [row.bundle, row.class, row.name, row.doc].map(str::to_owned);
        vec![bundle, class, name, bits, row.width.to_string(), doc]
    });
    format!(
        "{}: {} x {} tiles, {}-bit flits\n{}\nA flit on its wires:\n{}",
        design.name,
        mesh.cols(),
        mesh.rows(),
        design.flit.data_width,
        table::columns(&facts.collect::<Vec<_>>()),
        table::columns(&std::iter::once(heading).chain(fields).collect::<Vec<_>>())
    )
}
