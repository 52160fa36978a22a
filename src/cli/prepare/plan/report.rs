//! Output of `meshkv plan`, as JSON and in prose.

use crate::cli::output::table::{columns, size};
use crate::eval::scale::{CardsPlan, ShareOfCard, WayPlan, WidthsPlan};
use schemars::JsonSchema;
use serde::Serialize;

/// A model on several cards.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct PlanOutput {
    /// Name of the configuration.
    pub(super) name: String,
    /// The plan.
    #[serde(flatten)]
    pub(super) plan: CardsPlan,
    /// What each choice of widths costs, where rows share their multipliers.
    pub(super) widths: Vec<WidthsPlan>,
}

/// The plan as tables.
pub(super) fn prose(output: &PlanOutput) -> String {
    let plan = &output.plan;
    let (model, cards) = (&plan.model, plan.cards);
    let window = model.sliding_window.map_or(String::new(), |window| format!(", window of {window}"));
    format!(
        "{} on {cards} card{}: {} layers, {} heads on {} KV heads of {}, {} tokens{window}, {} stream{}\n\
         Its caches take {}. A card's memory gives {} GB/s, its link to the host {} GB/s.\n\n{}{}{}{}",
        output.name,
        plural(cards),
        model.layers,
        model.heads,
        model.kv_heads,
        model.head_dim,
        model.max_tokens,
        model.max_streams,
        plural(model.max_streams),
        size(plan.cache_bytes as f64),
        plan.memory_gbs,
        plan.link_gbs,
        shares(plan),
        traffic(plan),
        times(plan),
        widths(&output.widths) + &verdict(plan),
    )
}

/// What numbers of nine bits save, and what they cost.
fn widths(of: &[WidthsPlan]) -> String {
    if of.is_empty() {
        return String::new();
    }
    let mut rows = vec![texts(["pe.narrow", "expected us", "RMS error over outputs"])];
    rows.extend(of.iter().map(|one| {
        let us = one.step_us.map_or("-".to_owned(), |us| format!("{us:.0}"));
        vec![one.narrow.name().to_owned(), us, format!("{:.1e}", one.rms_share)]
    }));
    format!(
        "Numbers of 9 bits instead of 18, the best way, and errors on drawn inputs:\n{}\n",
        columns(&rows)
    )
}

fn plural(count: u32) -> &'static str {
    if count == 1 {
        ""
    } else {
        "s"
    }
}

fn texts<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// Shares of a card by way, and the caches of the fullest card.
fn shares(plan: &CardsPlan) -> String {
    let mut rows = vec![texts(["by", "a card has", "of", "caches", "in", "fewest cards"])];
    for way in &plan.ways {
        let fewest = way.least_cards.map_or("-".to_owned(), |cards| cards.to_string());
        let (Some(dealt), Some(caches)) = (&way.dealt, &way.caches) else {
            rows.push(vec![
                way.way.name().to_owned(),
                "-".into(),
                "-".into(),
                "-".into(),
                "-".into(),
                fewest,
            ]);
            continue;
        };
        let has = if dealt.least == dealt.most {
            dealt.most.to_string()
        } else {
            format!("{} to {}", dealt.least, dealt.most)
        };
        let room = match caches.port {
            Some(port) => format!("{} of port {port}", size(caches.room_bytes as f64)),
            None => size(caches.room_bytes as f64),
        };
        rows.push(vec![
            way.way.name().to_owned(),
            has,
            format!("{} {}", dealt.units, way.way.units()),
            size(caches.needed_bytes as f64),
            room,
            fewest,
        ]);
    }
    format!(
        "Share of a card, caches of the fullest, and the fewest cards that hold them:\n{}\n",
        columns(&rows)
    )
}

/// Bytes of a step.
fn traffic(plan: &CardsPlan) -> String {
    let mut rows = vec![texts([
        "by",
        "queries",
        "new K, V",
        "outputs",
        "partials",
        "activations",
        "all",
        "busiest link",
    ])];
    for way in &plan.ways {
        let Some(traffic) = &way.traffic else { continue };
        let bytes = [
            traffic.queries_bytes,
            traffic.kv_bytes,
            traffic.outputs_bytes,
            traffic.partials_bytes,
            traffic.activations_bytes,
            traffic.total_bytes(),
            traffic.card_bytes,
        ];
        rows.push([way.way.name().to_owned()].into_iter().chain(bytes.map(|n| n.to_string())).collect());
    }
    format!("Bytes between hosts and cards in a decode step:\n{}\n", columns(&rows))
}

/// Least times of a step.
fn times(plan: &CardsPlan) -> String {
    let possible: Vec<_> = plan.ways.iter().filter_map(|way| Some((way, way.time?))).collect();
    let Some((_, first)) = possible.first() else { return String::new() };
    let mut head = texts(["by"]);
    head.extend(first.bounds_us.all().map(|(name, _)| name.to_owned()));
    head.extend(texts(["at least", "expected", "mapping", "streams at once"]));
    let mut rows = vec![head];
    for (way, time) in &possible {
        let mut row = vec![way.way.name().to_owned()];
        row.extend(time.bounds_us.all().map(|(_, us)| format!("{us:.0}")));
        row.extend([format!("{:.0}", time.step_us), format!("{:.0}", time.expected_us)]);
        let groups = if time.groups == 1 {
            time.group_streams.to_string()
        } else {
            format!("{} in each of {} groups", time.group_streams, time.groups)
        };
        row.extend([time.mapping.to_owned(), groups]);
        rows.push(row);
    }
    format!("Least microseconds of a step that each part needs:\n{}\n", columns(&rows))
}

/// The refusals, and the best way with the configuration of its cards.
fn verdict(plan: &CardsPlan) -> String {
    // Without a best way the error has all refusals.
    let refusals = plan.ways.iter().filter(|_| plan.best.is_some()).filter_map(refusal);
    let mut text: String = refusals.map(|line| line + "\n").collect();
    let best = plan.ways.iter().find(|way| Some(way.way) == plan.best);
    if let Some((way, time, share)) = best.and_then(|way| Some((way, way.time?, way.share?))) {
        text += &format!(
            "Best by {}: a step takes {:.0} us or more, bound by {}, and is expected to take {:.0} us:\n\
             {}.\nThe fullest card has {}.\n",
            way.way.name(),
            time.step_us,
            time.tightest,
            time.expected_us,
            time.expected_error.words(),
            keys(&share)
        );
    }
    text
}

fn refusal(way: &WayPlan) -> Option<String> {
    Some(format!("Not by {}: {}", way.way.name(), way.refused.as_deref()?))
}

/// The keys of a share, as a configuration has them.
fn keys(share: &ShareOfCard) -> String {
    let mut keys = vec![
        ("layers", share.layers),
        ("heads", share.heads),
        ("kv_heads", share.kv_heads),
        ("max_tokens", share.max_tokens),
        ("max_streams", share.max_streams),
    ];
    keys.extend(share.sliding_window.map(|window| ("sliding_window", window)));
    let keys: Vec<_> = keys.into_iter().map(|(key, value)| format!("model.{key} = {value}")).collect();
    keys.join(", ")
}

/// The error of a plan without a possible way.
pub(super) fn why_not(plan: &CardsPlan) -> String {
    let refusals: Vec<_> = plan.ways.iter().filter_map(refusal).collect();
    format!("no way is possible with {} card{}\n{}", plan.cards, plural(plan.cards), refusals.join("\n"))
}
