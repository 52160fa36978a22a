//! Tables of the evaluation: measured figures, one CSV file a topic.

use crate::config::Mapping;
use crate::eval::grid::csv_line;
use crate::eval::paper::accuracy::{accuracy, Accuracy, Errors};
use crate::eval::paper::case::{Case, Model, LONGEST, OWN_COLUMNS};
use crate::eval::paper::claim::Claim;
use crate::eval::paper::measured::{Found, Measured};
use crate::eval::paper::plan::{
    mappings, step_of, ABLATED, CARDS, COMPARED, CONTEXTS, LAYERS, LONG_MESH, SWAPS, VARIED, WINDOWS,
};
use crate::eval::paper::result::intervals::{intervals, Interval};
use crate::eval::Spread;

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name of its file.
    pub name: &'static str,
    /// Title.
    pub title: String,
    /// Names of its columns.
    pub head: Vec<&'static str>,
    /// Its cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// As CSV, with fields quoted where RFC 4180 requires it.
    pub fn to_csv(&self) -> String {
        let rows = self.rows.iter().map(csv_line);
        [csv_line(&self.head)].into_iter().chain(rows).collect()
    }
}

/// Columns that every table of cases has after its own.
const COMMON: [&str; 7] = ["bound_by", "over_bound", "ran", "error", "share_of_memory", "rows", "command"];

fn common(of: &Measured) -> Vec<String> {
    vec![
        of.bound_by.clone(),
        format!("{:.3}", of.over_bound),
        of.sample.clone(),
        format!("{:.3}", of.error),
        format!("{:.4}", of.share),
        of.ids.join(" "),
        of.command.clone(),
    ]
}

fn labels(of: &Measured) -> Vec<String> {
    let case = of.case;
    let sharing = case.sharing.name();
    vec![
        case.fabric.to_owned(),
        case.model.name().to_owned(),
        case.batch.to_string(),
        case.tokens.to_string(),
        case.mapping.name().to_owned(),
        sharing.to_owned(),
    ]
}

const LABELS: [&str; 6] = ["fabric", "model", "batch", "tokens", "mapping", "sharing"];

/// Figures of a case, beside those of a base if it is there.
type Cells = fn(&Measured, Option<&Measured>) -> Vec<String>;

/// A table of cases; `base` is what each is set beside.
fn of_cases(
    found: &Found,
    (name, title): (&'static str, &str),
    own: &[&'static str],
    cases: impl Iterator<Item = Case>,
    base: impl Fn(Case) -> Case,
    cells: Cells,
) -> Table {
    let row = |case: Case| {
        let of = found.get(case)?;
        Some([labels(of), cells(of, found.get(base(case))), common(of)].concat())
    };
    let head = LABELS.iter().chain(own).chain(&COMMON).copied().collect();
    Table { name, title: title.to_owned(), head, rows: cases.filter_map(row).collect() }
}

fn over(of: f64, base: Option<f64>) -> String {
    base.map_or(String::new(), |base| format!("{:.4}", of / base))
}

fn on_all(case: Case) -> impl Iterator<Item = Case> {
    mappings(case.batch).iter().map(move |&mapping| case.mapped(mapping))
}

fn cent(case: Case) -> Case {
    Case { fabric: "cent", ..case }
}

fn meshkv(case: Case) -> Case {
    Case { fabric: "meshkv", ..case }
}

/// The fabrics that are compared, in contexts of so many tokens.
fn by_context(contexts: &'static [u32]) -> impl Iterator<Item = Case> {
    COMPARED.into_iter().flat_map(move |fabric| {
        contexts.iter().flat_map(move |&tokens| on_all(Case::of(fabric).tokens(tokens)))
    })
}

fn traffic_over(of: &Measured, base: Option<&Measured>) -> String {
    over(of.traffic, base.map(|b| b.traffic))
}

fn speed_over(of: &Measured, base: Option<&Measured>) -> String {
    over(1.0 / of.cycles, base.map(|b| 1.0 / b.cycles))
}

/// All tables.
pub fn tables(found: &Found, claims: &[Claim], errors: &[Errors]) -> Vec<Table> {
    let mut tables = of_mechanisms(found);
    tables.extend(of_limits(found));
    tables.extend([of_steps(found), of_intervals(found), of_accuracy(errors), of_claims(claims)]);
    tables
}

/// The paper's own comparisons.
fn of_mechanisms(found: &Found) -> Vec<Table> {
    let traffic = [Model::Llama, Model::Mistral].into_iter().flat_map(|model| {
        COMPARED.into_iter().flat_map(move |fabric| {
            let case = Case::of(fabric).model(model);
            on_all(case).chain([case.shared()])
        })
    });
    let throughput = [1, 4, 8]
        .into_iter()
        .flat_map(|batch| COMPARED.into_iter().flat_map(move |fabric| on_all(Case::of(fabric).batch(batch))));
    vec![
        of_cases(
            found,
            ("traffic", "Traffic of one layer, and over that of cent under the same mapping"),
            &["traversals", "over_cent"],
            traffic,
            cent,
            |of, base| vec![format!("{:.0}", of.traffic), traffic_over(of, base)],
        ),
        of_cases(
            found,
            ("bisection", "Sharing of the link cycles across the middle while KV flows"),
            &["useful", "stall", "other"],
            by_context(&[8192, LONGEST]),
            cent,
            |of, _| of.bisection.iter().map(|share| format!("{share:.4}")).collect(),
        ),
        of_cases(
            found,
            ("throughput", "Cycles of one layer, and throughput over cent under the same mapping"),
            &["cycles", "over_cent"],
            throughput,
            cent,
            |of, base| vec![format!("{:.0}", of.cycles), speed_over(of, base)],
        ),
        of_cases(
            found,
            ("latency", "Latency of one layer"),
            &["us", "over_cent"],
            by_context(&CONTEXTS),
            cent,
            |of, base| vec![format!("{:.2}", of.us), over(of.us, base.map(|b| b.us))],
        ),
        of_cases(
            found,
            ("energy", "Energy of one layer in nJ, by published figures of single activities"),
            &["link", "sram", "mac", "external_memory", "net_over_cent"],
            by_context(&[LONGEST]),
            cent,
            |of, base| {
                let net = |m: &Measured| m.energy.iter().sum::<f64>();
                let cells = of.energy.iter().map(|nj| format!("{nj:.0}"));
                cells.chain([over(net(of), base.map(net))]).collect()
            },
        ),
    ]
}

/// What each mechanism is worth, and where its limits are.
fn of_limits(found: &Found) -> Vec<Table> {
    let ablation = ["meshkv"].into_iter().chain(ABLATED).flat_map(|fabric| on_all(Case::of(fabric).batch(8)));
    let varied = VARIED.into_iter().chain(WINDOWS).map(|fabric| Case::of(fabric).batch(8));
    let long = LONG_MESH.into_iter().flat_map(|fabric| on_all(Case::of(fabric).batch(8)));
    let swaps = SWAPS.into_iter().map(|fabric| Case::of(fabric).skewed().mapped(Mapping::RowAligned));
    let windows = ["meshkv"].into_iter().chain(WINDOWS);
    let merging =
        windows.flat_map(|fabric| [Case::of(fabric).model(Model::Mistral), Case::of(fabric).batch(8)]);
    let models = [Model::Llama, Model::Mistral].into_iter();
    let cards = CARDS.into_iter().flat_map(|fabric| {
        [4096, 16_384].map(|tokens| Case::of(fabric).tokens(tokens).mapped(Mapping::RowAligned))
    });
    vec![
        of_cases(
            found,
            ("ablation", "Mechanisms left out and keys changed, over meshkv under the same mapping"),
            &["throughput", "traffic"],
            ablation.chain(varied).chain(long).chain(swaps),
            |case| Case { fabric: if case.skewed { SWAPS[0] } else { "meshkv" }, ..case },
            |of, base| vec![speed_over(of, base), traffic_over(of, base)],
        ),
        of_cases(
            found,
            ("coalescing", "Fetches that join another at their home"),
            &["merged", "cycles"],
            merging,
            meshkv,
            |of, _| vec![format!("{:.4}", of.merged), format!("{:.0}", of.cycles)],
        ),
        of_cases(
            found,
            (
                "limit",
                "The limit of placement: each slice in the column that computes its KV head (takv.spread), beside cent with a head on one tile",
            ),
            &["traversals", "over_cent", "cycles", "speed_over_cent"],
            models.map(|model| Case::of(OWN_COLUMNS).model(model).mapped(Mapping::RowAligned)),
            |case| cent(case).mapped(Mapping::HeadTile),
            |of, base| {
                let (flits, cycles) = (format!("{:.0}", of.traffic), format!("{:.0}", of.cycles));
                vec![flits, traffic_over(of, base), cycles, speed_over(of, base)]
            },
        ),
        of_cases(
            found,
            ("card", "Fabrics for the U280: share of its HBM from start to done"),
            &["us", "share"],
            cards,
            meshkv,
            |of, _| vec![format!("{:.2}", of.us), format!("{:.4}", of.share)],
        ),
    ]
}

/// Layers one after the other, beside one.
fn of_steps(found: &Found) -> Table {
    let one = found.get(step_of(1)).map(|one| one.cycles);
    let row = |layers: u32| {
        let of = found.get(step_of(layers))?;
        let each = of.cycles / f64::from(layers);
        let own =
            vec![layers.to_string(), format!("{:.0}", of.cycles), format!("{each:.0}"), over(each, one)];
        // Homes of layers are in different columns: a bound of all together says nothing of each.
        Some([own, vec![of.sample.clone(), of.ids.join(" "), of.command.clone()]].concat())
    };
    Table {
        name: "steps",
        title: "Layers one after the other, as in a whole step of 32: cycles of each over those of one alone"
            .to_owned(),
        head: vec!["layers", "cycles", "of_each", "over_one_alone", "ran", "rows", "command"],
        rows: LAYERS.into_iter().filter_map(row).collect(),
    }
}

/// What five seeds of an unruly memory draw.
fn of_intervals(found: &Found) -> Table {
    let row = |of: Interval| {
        vec![
            of.fabric.to_owned(),
            of.throughput.n.to_string(),
            of.throughput.show(4),
            of.traffic.show(4),
            of.command,
        ]
    };
    Table {
        name: "intervals",
        title: "Throughput and traffic over meshkv under a memory that answers out of order and with gaps: mean and 95 % interval over five seeds; homes of the layer are in the first column where it has one".to_owned(),
        head: vec!["fabric", "seeds", "throughput", "traffic", "command"],
        rows: intervals(found).into_iter().map(row).collect(),
    }
}

/// Errors of attention.
fn of_accuracy(errors: &[Errors]) -> Table {
    let show = |spread: Spread| match spread.half {
        Some(half) => format!("{:.3e} ± {half:.1e}", spread.mean),
        None => format!("{:.3e}", spread.mean),
    };
    let row = |of: Accuracy| {
        let ([max, rms], [flash_max, flash_rms]) = (of.ours.map(show), of.flash.map(show));
        let kind = format!("{:?}", of.logits).to_lowercase();
        vec![kind, of.tokens.to_string(), max, rms, flash_max, flash_rms, of.ratio.show(3)]
    };
    Table {
        name: "accuracy",
        title: "Largest and RMS error of attention against f64, one head of 128, mean and 95 % interval over five drawn sets of tensors: ours, bit for bit that of the Verilog, and FlashAttention-2's in FP16 with the better of blocks of 64 and 128".to_owned(),
        head: vec!["logits", "tokens", "max", "rms", "flash_max", "flash_rms", "rms_over_flash"],
        rows: accuracy(errors).into_iter().map(row).collect(),
    }
}

fn of_claims(claims: &[Claim]) -> Table {
    let row = |claim: &Claim| {
        let (verdict, view) = claim.verdict();
        let shown = |number: Option<f64>| number.map_or(String::new(), |n| format!("{n:.6}"));
        vec![
            claim.id.clone(),
            claim.place.clone(),
            claim.what.clone(),
            claim.paper.to_string(),
            shown(view.map(|view| view.ours)),
            claim.unit.clone(),
            shown(claim.ratio()),
            verdict.name().to_owned(),
            view.map_or(String::new(), |view| view.name.clone()),
            view.and_then(|view| view.assumption).unwrap_or_default().to_owned(),
            claim.why.clone(),
            view.map_or(String::new(), |view| view.command.clone()),
        ]
    };
    Table {
        name: "claims",
        title: "Every number of the paper's evaluation".to_owned(),
        head: vec![
            "id",
            "place",
            "what",
            "paper",
            "ours",
            "unit",
            "ratio",
            "verdict",
            "reading",
            "assumption",
            "why",
            "command",
        ],
        rows: claims.iter().map(row).collect(),
    }
}
