//! Figures of the evaluation: bars, stacks and lines as the paper has them, its values as outlines behind ours.

mod bars;
mod lines;
mod stacks;

use crate::config::Mapping;
use crate::eval::paper::case::{Case, Model, LONGEST};
use crate::eval::paper::claim::Claim;
use crate::eval::paper::measured::{Found, Measured};
use crate::eval::paper::plan::{ABLATED, CARDS, COMPARED, CONTEXTS, WINDOWS};
use crate::eval::report::picture::canvas::with_theme;
use bars::{Bar, Bars};
use lines::{Line, Lines};
use stacks::{Stack, Stacks};

/// A picture with its caption.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Name of its files.
    pub name: &'static str,
    /// SVG with its own colours, for a file.
    pub svg: String,
    /// SVG for a page that defines the colours.
    pub themed: String,
    /// Caption.
    pub caption: String,
}

/// The paper's number of a claim.
fn paper(claims: &[Claim], id: &str) -> Option<f64> {
    claims.iter().find(|claim| claim.id == id).map(|claim| claim.paper)
}

const OUTLINE: &str = "Filled: measured. Outlined: the paper's.";

/// All figures whose rows are there.
///
/// # Errors
/// If one cannot be drawn.
pub fn figures(found: &Found, claims: &[Claim]) -> anyhow::Result<Vec<Drawn>> {
    let mut drawn = Vec::new();
    let mut add = |name: &'static str, svg: anyhow::Result<String>, caption: &str| -> anyhow::Result<()> {
        let svg = svg?;
        let told = if ["energy", "card"].contains(&name) { "" } else { OUTLINE };
        drawn.push(Drawn {
            name,
            themed: with_theme(&svg),
            svg,
            caption: format!("{caption} {told}").trim_end().to_owned(),
        });
        Ok(())
    };
    add("traffic", traffic(found, claims).draw(), "Traffic of one layer over that of cent, T = 32 K, B = 1, both sides under the mapping below the bars.")?;
    for (name, tokens, key) in [("bisection-32k", LONGEST, "32k"), ("bisection-8k", 8192, "8k")] {
        let caption = format!("Link cycles across the middle of the mesh while KV of one layer flows, T = {} K, B = 1, a head on one tile.", tokens / 1024);
        add(name, bisection(found, claims, tokens, key).draw(), &caption)?;
    }
    add(
        "throughput",
        throughput(found, claims).draw(),
        "Throughput over cent at T = 32 K, each side under its best mapping; the axis is logarithmic.",
    )?;
    add("latency", latency(found, claims).draw(), "Latency of one whole layer over T, B = 1, each fabric under its best mapping; dashed: the paper's, of an unstated part of a layer. Both axes are logarithmic.")?;
    add(
        "energy",
        energy(found).draw(),
        "Energy of one layer over that of cent, T = 32 K, B = 1, a head on one tile.",
    )?;
    add(
        "ablation",
        ablation(found, claims).draw(),
        "Each mechanism left out: throughput and traffic over meshkv, T = 32 K, B = 8, a head on one tile.",
    )?;
    add(
        "coalescing",
        coalescing(found, claims).draw(),
        "Fetches that join another at their home, by the window.",
    )?;
    add(
        "card",
        card(found).draw(),
        "Fabrics for the U280: share of 460 GB/s from start to done, one layer of LLaMA-2-7B, B = 1.",
    )?;
    Ok(drawn)
}

fn traffic(found: &Found, claims: &[Claim]) -> Bars {
    let group = |model: Model, mapping: Mapping| {
        let key = if model == Model::Llama { "llama" } else { "mistral" };
        let of = |fabric: &'static str| found.get(Case::of(fabric).model(model).mapped(mapping));
        let bar = |fabric: &'static str| Bar {
            ours: of(fabric).zip(of("cent")).map(|(of, cent)| of.traffic / cent.traffic),
            paper: if fabric == "cent" {
                Some(1.0)
            } else {
                paper(claims, &format!("traffic-{fabric}-{key}"))
            },
        };
        (format!("{} {}", &model.name()[..7], mapping.name()), COMPARED.map(bar).to_vec())
    };
    let both = [Mapping::HeadTile, Mapping::RowAligned];
    Bars {
        title: "Traffic over cent".to_owned(),
        subtitle: "T = 32 K, B = 1".to_owned(),
        y_name: "traffic / cent",
        series: COMPARED.map(str::to_owned).to_vec(),
        groups: [Model::Llama, Model::Mistral]
            .into_iter()
            .flat_map(|model| both.map(|m| group(model, m)))
            .collect(),
        log: false,
    }
}

fn bisection(found: &Found, claims: &[Claim], tokens: u32, key: &str) -> Stacks {
    let stack = |fabric: &'static str| {
        let of = found.get(Case::of(fabric).tokens(tokens))?;
        let useful = paper(claims, &format!("bisection-{fabric}-{key}"));
        let rest =
            |part: &str| paper(claims, &format!("breakdown-{fabric}-{part}")).filter(|_| tokens == LONGEST);
        let papers: Vec<f64> = [useful, rest("stall"), rest("other")].into_iter().flatten().collect();
        Some(Stack {
            name: fabric.to_owned(),
            ours: of.bisection.map(|share| 100.0 * share).to_vec(),
            paper: papers,
        })
    };
    Stacks {
        title: "Link cycles across the middle".to_owned(),
        subtitle: format!("T = {} K, B = 1, a head on one tile", tokens / 1024),
        y_name: "% of link cycles",
        parts: ["useful KV transfer", "stalled", "other"].map(str::to_owned).to_vec(),
        stacks: COMPARED.into_iter().filter_map(stack).collect(),
    }
}

/// The best case over all mappings: the fewest cycles.
fn fastest(found: &Found, case: Case) -> Option<&Measured> {
    let all = crate::eval::paper::plan::mappings(case.batch)
        .iter()
        .filter_map(|&mapping| found.get(case.mapped(mapping)));
    all.min_by(|a, b| a.cycles.total_cmp(&b.cycles))
}

fn throughput(found: &Found, claims: &[Claim]) -> Bars {
    let group = |batch: u32| {
        let of = |fabric: &'static str| fastest(found, Case::of(fabric).batch(batch));
        let bar = |fabric: &'static str| Bar {
            ours: of(fabric).zip(of("cent")).map(|(of, cent)| cent.cycles / of.cycles),
            paper: if fabric == "cent" {
                Some(1.0)
            } else {
                paper(claims, &format!("throughput-{fabric}-b{batch}"))
            },
        };
        (format!("B = {batch}"), COMPARED.map(bar).to_vec())
    };
    Bars {
        title: "Throughput over cent".to_owned(),
        subtitle: "T = 32 K, each side under its best mapping".to_owned(),
        y_name: "throughput / cent",
        series: COMPARED.map(str::to_owned).to_vec(),
        groups: [1, 4, 8].map(group).to_vec(),
        log: true,
    }
}

fn latency(found: &Found, claims: &[Claim]) -> Lines {
    let line = |fabric: &'static str| {
        let ours = CONTEXTS.iter().filter_map(|&tokens| {
            fastest(found, Case::of(fabric).tokens(tokens)).map(|of| (f64::from(tokens), of.us))
        });
        let papers = CONTEXTS.iter().filter_map(|&tokens| {
            paper(claims, &format!("latency-{fabric}-{}k", tokens / 1024)).map(|us| (f64::from(tokens), us))
        });
        Line { name: fabric.to_owned(), ours: ours.collect(), paper: papers.collect() }
    };
    Lines {
        title: "Latency of one layer".to_owned(),
        subtitle: "B = 1, each fabric under its best mapping".to_owned(),
        x_name: "tokens",
        y_name: "us",
        lines: ["cent", "shared", "meshkv", "meshkv_stride1"].map(line).to_vec(),
        log: true,
    }
}

fn energy(found: &Found) -> Stacks {
    let base = found.get(Case::of("cent")).map(|cent| cent.energy.iter().sum::<f64>());
    let stack = |fabric: &'static str| {
        let of = found.get(Case::of(fabric))?;
        let share = |nj: f64| 100.0 * nj / base.unwrap_or(1.0);
        Some(Stack { name: fabric.to_owned(), ours: of.energy.map(share).to_vec(), paper: Vec::new() })
    };
    Stacks {
        title: "Energy over cent".to_owned(),
        subtitle: "T = 32 K, B = 1, a head on one tile".to_owned(),
        y_name: "% of cent",
        parts: ["links", "SRAM", "arithmetic", "external memory"].map(str::to_owned).to_vec(),
        stacks: COMPARED.into_iter().filter_map(stack).collect(),
    }
}

fn ablation(found: &Found, claims: &[Claim]) -> Bars {
    let base = found.get(Case::of("meshkv").batch(8));
    let group = |fabric: &'static str| {
        let both = found.get(Case::of(fabric).batch(8)).zip(base);
        let bar = |what: &str, ours: Option<f64>| Bar {
            ours,
            paper: paper(claims, &format!("ablation-{fabric}-{what}")),
        };
        let bars = vec![
            bar("throughput", both.map(|(of, base)| base.cycles / of.cycles)),
            bar("traffic", both.map(|(of, base)| of.traffic / base.traffic)),
        ];
        (fabric.replace("no_", "-"), bars)
    };
    Bars {
        title: "Mechanisms left out, over meshkv".to_owned(),
        subtitle: "T = 32 K, B = 8, a head on one tile".to_owned(),
        y_name: "over meshkv",
        series: vec!["throughput".to_owned(), "traffic".to_owned()],
        groups: ABLATED.map(group).to_vec(),
        log: false,
    }
}

fn coalescing(found: &Found, claims: &[Claim]) -> Lines {
    let windows = || ["meshkv"].into_iter().chain(WINDOWS);
    let line = |name: &str, case: fn(&'static str) -> Case, papers: Vec<(f64, f64)>| {
        let mut ours: Vec<(f64, f64)> = windows()
            .filter_map(|fabric| {
                let window = fabric.split_once('=').map_or(Some(12.0), |(_, window)| window.parse().ok())?;
                found.get(case(fabric)).map(|of| (window, 100.0 * of.merged))
            })
            .collect();
        ours.sort_by(|a, b| a.0.total_cmp(&b.0));
        Line { name: name.to_owned(), ours, paper: papers }
    };
    let told = paper(claims, "coalescing-12").map(|share| (12.0, share));
    Lines {
        title: "Fetches merged by the coalescing window".to_owned(),
        subtitle: "meshkv, T = 32 K, a head on one tile".to_owned(),
        x_name: "W_coal in cycles",
        y_name: "% of fetches",
        lines: vec![
            line(
                "Mistral-7B, B = 1",
                |fabric| Case::of(fabric).model(Model::Mistral),
                told.into_iter().collect(),
            ),
            line("LLaMA-2-7B, B = 8", |fabric| Case::of(fabric).batch(8), Vec::new()),
        ],
        log: false,
    }
}

fn card(found: &Found) -> Bars {
    let contexts = [4096, 16_384];
    let group = |fabric: &'static str| {
        let bar = |tokens: u32| {
            let of = found.get(Case::of(fabric).tokens(tokens).mapped(Mapping::RowAligned));
            Bar { ours: of.map(|of| 100.0 * of.share), paper: None }
        };
        (fabric.to_owned(), contexts.map(bar).to_vec())
    };
    Bars {
        title: "Share of the U280's HBM".to_owned(),
        subtitle: "one layer of LLaMA-2-7B, B = 1".to_owned(),
        y_name: "% of 460 GB/s",
        series: contexts.map(|tokens| format!("{} K tokens", tokens / 1024)).to_vec(),
        groups: CARDS.map(group).to_vec(),
        log: false,
    }
}
