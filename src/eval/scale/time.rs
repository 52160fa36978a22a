//! Least time of a decode step on cards, by the parts of the fabric and the link to the host.

use super::share::Way;
use crate::config::Config;
use crate::cosim::workloads::decode::step;
use crate::cosim::workloads::decode::{Workload, WorkloadError};
use crate::design::{Bounds, Choice, Design, Exchange, ForecastError, Mapping, Sharing, FORECAST_ERROR};
use schemars::JsonSchema;
use serde::Serialize;

/// Least time that each part needs for a decode step of all streams and layers, in microseconds. Parts
/// of the fabric are those of the fullest card.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct StepBounds {
    /// Parts of the fabric.
    #[serde(flatten)]
    pub fabric: Bounds<f64>,
    /// The link between host and card, both directions one after the other: outputs follow queries.
    pub host_link: f64,
}

impl StepBounds {
    /// Each bound with its name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.fabric.all().into_iter().chain([("host_link", self.host_link)])
    }

    /// Name and microseconds of the tightest part; of equal ones the first. Bytes are no part: the busiest port has their
    /// bound at least.
    pub fn tightest(&self) -> (&'static str, f64) {
        let fabric = self.fabric.tightest();
        if self.host_link > fabric.1 {
            ("host_link", self.host_link)
        } else {
            fabric
        }
    }
}

/// The time of a step: from one token of every stream to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct StepTime {
    /// Groups of streams that pass the cards one behind the other; 1 where all cards work on a layer at
    /// once.
    pub groups: u32,
    /// Streams of the largest group.
    pub group_streams: u32,
    /// Mapping of heads to tiles with the least forecast.
    pub mapping: &'static str,
    /// Least time of each part.
    pub bounds_us: StepBounds,
    /// The tightest of them.
    pub tightest: &'static str,
    /// Its microseconds: a step takes no less.
    pub step_us: f64,
    /// Microseconds that a step is expected to take: the forecast of the fabric, and the link to the host
    /// before and after it.
    pub expected_us: f64,
    /// How far forecasts of the fabric are off.
    pub expected_error: ForecastError,
}

impl StepTime {
    /// The time on cards of which the fullest is `card`, at `link_gbs` GB/s from host to card.
    ///
    /// # Errors
    /// If the card cannot hold the load.
    pub(super) fn new(
        way: Way,
        (whole, card): (&Config, &Design),
        cards: u32,
        link_gbs: f64,
    ) -> Result<StepTime, WorkloadError> {
        let streams = whole.model.max_streams;
        // Layers of a token follow one another, so cards work at once only on tokens of several groups.
        let groups = if way == Way::Layers { cards.min(streams) } else { 1 };
        let group_streams = streams.div_ceil(groups);
        let (mapping, bounds, cycles) = mean_layer(card, whole.model.layers, group_streams)?;
        let (all, most) = (f64::from(whole.model.layers), f64::from(card.model.layers));
        // A group passes all layers before its next token; a card has its layers for every group.
        let in_turn = |of_all: f64, of_card: f64| of_all.max(f64::from(groups) * of_card);
        let us = |cycles: f64| in_turn(all, most) * cycles / card.clock.noc_mhz;
        let call = bytes_of_layer(way, &card.exchange(), cards) * f64::from(group_streams);
        let hop = match way {
            Way::Layers => Exchange::of(whole).query_bytes as f64 * f64::from(group_streams),
            Way::Heads | Way::Tokens => 0.0,
        };
        let (hops, sends) = (f64::from(cards - 1), f64::from(u32::from(cards > 1)));
        let bytes = in_turn(all * call + hops * hop, most * call + sends * hop);
        let bounds_us = StepBounds {
            fabric: bounds.map(us),
            // GB/s are thousands of bytes a microsecond.
            host_link: bytes / (link_gbs * 1e3),
        };
        let (tightest, step_us) = bounds_us.tightest();
        let expected_us = us(cycles) + bounds_us.host_link;
        Ok(StepTime {
            groups,
            group_streams,
            mapping: mapping.name(),
            bounds_us,
            tightest,
            step_us,
            expected_us,
            expected_error: FORECAST_ERROR,
        })
    }
}

/// Bytes over the link of a card for a layer and stream.
fn bytes_of_layer(way: Way, card: &Exchange, cards: u32) -> f64 {
    let results = if way == Way::Tokens && cards > 1 { card.partial_bytes } else { card.query_bytes };
    (card.query_bytes + card.token_bytes + results) as f64
}

/// The mean of all layers of a model, by their kinds: their least cycles and the expected ones; the mapping is that of the
/// kind that takes longest.
fn mean_layer(
    card: &Design,
    layers: u32,
    streams: u32,
) -> Result<(Mapping, Bounds<f64>, f64), WorkloadError> {
    let (mut bounds, mut cycles, mut longest) = (Bounds::<f64>::default(), 0.0, None);
    for (_, of_kind, first) in card.layer_kinds_of(layers) {
        let (mapping, least, expected) = layer(&card.of_layer(first), streams)?;
        let share = f64::from(of_kind) / f64::from(layers);
        bounds = bounds.zip(&least, |mean, least| mean + share * least as f64);
        cycles += share * expected as f64;
        let all = u64::from(of_kind) * expected;
        if longest.is_none_or(|(most, _)| all > most) {
            longest = Some((all, mapping));
        }
    }
    let (_, mapping) = longest.expect("a model has a layer");
    Ok((mapping, bounds, cycles))
}

/// The best mapping of a layer of so many streams, its least cycles and the expected ones.
fn layer(card: &Design, streams: u32) -> Result<(Mapping, Bounds, u64), WorkloadError> {
    let load = Workload {
        tokens: card.model.max_tokens,
        batch: streams,
        prefix: 0,
        mapping: Mapping::RowAligned,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 1,
        stride: 1,
        append: false,
    };
    let choice = Choice::new(card, &step(card, &load)?.descriptors);
    let of_mapping = choice.forecasts.iter().find(|(mapping, _)| *mapping == choice.mapping);
    let forecast =
        of_mapping.and_then(|(_, forecast)| forecast.as_ref().ok()).expect("the choice has a forecast");
    Ok((choice.mapping, forecast.bounds, forecast.cycles))
}

#[cfg(test)]
mod tests {
    use super::super::share::of_card;
    use super::*;
    use crate::config::LayerGroup;

    /// 4 x 4 tiles with a port each, 32 layers of 32 heads, 4096 tokens, so many streams.
    fn whole(streams: u32) -> Config {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows, config.takv.column_stride) = (4, 4, 1);
        (config.model.max_tokens, config.model.max_streams) = (4096, streams);
        config.memory.refresh = false;
        config
    }

    fn time(way: Way, whole: &Config, cards: u32, link_gbs: f64) -> StepTime {
        let card = Design::from_config("card", &of_card(way, whole, cards)).unwrap();
        StepTime::new(way, (whole, &card), cards, link_gbs).unwrap()
    }

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found}, not {expected}");
    }

    #[test]
    fn memory_takes_as_long_as_its_bytes_at_its_bandwidth() {
        let model = whole(4);
        // A home sends a flit a cycle at most: slower memory is the bound.
        let slow = |mut config: Config| {
            config.memory.bandwidth_gbs = 100.0;
            config
        };
        // 16 ports use 16 of 32 channels.
        let us = 2.0 * 4.0 * f64::from(model.model.layers * 4096) * Exchange::of(&model).token_bytes as f64
            / 100e3;
        for (way, cards, share) in [
            (Way::Heads, 1, 1.0),
            (Way::Heads, 4, 0.25),
            (Way::Tokens, 4, 0.25),
            (Way::Heads, 3, 11.0 / 32.0),
        ] {
            let time = time(way, &slow(model.clone()), cards, 1e6);
            near(time.bounds_us.fabric.memory, us * share);
            near(time.bounds_us.fabric.bytes, us * share / 2.0);
            assert_eq!((time.tightest, time.step_us), ("memory", time.bounds_us.fabric.memory));
            assert!(time.expected_us >= time.step_us, "{time:?}");
        }
    }

    #[test]
    fn layers_of_several_kinds_count_by_their_number() {
        let with = |groups: Option<Vec<LayerGroup>>| {
            let mut config = whole(2);
            (config.model.layers, config.model.groups) = (12, groups);
            time(Way::Heads, &config, 1, 1e6).bounds_us.fabric.memory
        };
        let near_ones = LayerGroup { count: 5, window: Some(1024), sinks: false };
        let mixed = with(Some(vec![near_ones, LayerGroup { count: 1, window: None, ..near_ones }]));
        near(mixed, (2.0 * with(None) + 10.0 * with(Some(vec![near_ones]))) / 12.0);
        // Windows of whole rounds of homes spread as evenly as all tokens do.
        assert!(with(Some(vec![near_ones])) < 0.3 * with(None));
    }

    #[test]
    fn cards_of_layers_work_at_once_on_groups_of_streams_only() {
        let memory = |streams, cards| {
            let time = time(Way::Layers, &whole(streams), cards, 1e6);
            (time.groups, time.group_streams, time.bounds_us.fabric.memory)
        };
        let one = memory(1, 1).2;
        // A single stream passes all layers, wherever they are.
        assert_eq!(memory(1, 4), (1, 1, one));
        assert_eq!(memory(4, 4), (4, 1, one));
        assert_eq!((memory(4, 1).0, memory(4, 1).1), (1, 4));
        near(memory(4, 1).2, 4.0 * one);
        // Four streams on three cards: two groups of two.
        assert_eq!((memory(4, 3).0, memory(4, 3).1), (3, 2));
        // 11 of 32 layers, three groups of one: the fullest card holds up the others.
        near(memory(3, 3).2, one * 33.0 / 32.0);
    }

    #[test]
    fn a_slow_link_is_the_bound_and_takes_as_long_as_the_bytes_of_its_card() {
        let model = whole(4);
        let bytes = Exchange::of(&model);
        let (query, token, partial) =
            (bytes.query_bytes as f64, bytes.token_bytes as f64, bytes.partial_bytes as f64);
        let calls = f64::from(4 * model.model.layers);
        for (way, bytes) in [
            (Way::Heads, calls * (query + token + query) / 2.0),
            (Way::Tokens, calls * (query + token + partial)),
            // Two groups of two streams in all layers, and what passes from card to card.
            (Way::Layers, calls / 2.0 * (query + token + query) + 2.0 * 2.0 * query),
        ] {
            let time = time(way, &model, 2, 0.001);
            near(time.step_us, bytes / 1.0);
            assert_eq!(time.tightest, "host_link", "{way:?}");
        }
    }
}
