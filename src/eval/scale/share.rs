//! The share of a card: which layers, heads or tokens of a model it has.

use crate::config::{named, Config};
use crate::design::segments;

named! {
    // In the order in which they are listed.
    /// A way to spread a cache over cards.
    pub enum Way {
        /// Each card has some layers, one card after the other.
        Layers = "layers",
        /// Each card has some KV heads, with their query heads, of every layer.
        Heads = "heads",
        /// Each card has every N-th segment of tokens of every layer, and gives partial results.
        Tokens = "tokens",
    }
}

impl Way {
    /// Name of the units that are dealt to cards.
    pub fn units(self) -> &'static str {
        match self {
            Way::Layers => "layers",
            Way::Heads => "KV heads",
            Way::Tokens => "segments",
        }
    }

    /// Units of a model.
    pub(super) fn of(self, whole: &Config) -> u32 {
        match self {
            Way::Layers => whole.model.layers,
            Way::Heads => whole.model.kv_heads,
            Way::Tokens => segments(whole),
        }
    }
}

/// The configuration of the fullest of `cards` cards: that of the whole model with other `model` keys.
///
/// Units are dealt as evenly as they go. Tokens are dealt by segments in turn, so that all caches grow
/// together: segment s is at card s mod `cards`.
pub(super) fn of_card(way: Way, whole: &Config, cards: u32) -> Config {
    let mut config = whole.clone();
    if cards == 1 {
        return config;
    }
    let (most, model) = (way.of(whole).div_ceil(cards), &mut config.model);
    match way {
        Way::Layers => model.layers = most,
        Way::Heads => {
            model.heads = most * (whole.model.heads / whole.model.kv_heads);
            model.kv_heads = most;
        }
        Way::Tokens => {
            let (all, p, tokens) = (segments(whole), whole.kv.segment_tokens, whole.model.max_tokens);
            // The last segment may be short. Its card is the fullest only if no other has as many. In a window the
            // fullest may be another card.
            let window_of_card = |window: u32| {
                let first = tokens.saturating_sub(window) / p;
                (all - first).div_ceil(cards) * p
            };
            let has_window = model.sliding_window.is_some()
                || model.groups.iter().flatten().any(|group| group.window.is_some());
            let is_fullest = all % cards == 1 && !has_window;
            let lacking = if is_fullest { all * p - tokens } else { 0 };
            model.max_tokens = most * p - lacking;
            model.sliding_window = model.sliding_window.map(window_of_card);
            for group in model.groups.iter_mut().flatten() {
                group.window = group.window.map(window_of_card);
            }
        }
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(change: impl Fn(&mut Config)) -> Config {
        let mut config = Config::default();
        change(&mut config);
        config
    }

    #[test]
    fn the_fullest_card_has_what_is_left_over() {
        let model = whole(|c| (c.model.layers, c.model.heads, c.model.kv_heads) = (32, 32, 8));
        let of = |way, cards| of_card(way, &model, cards).model;
        assert_eq!(of(Way::Layers, 3).layers, 11);
        assert_eq!((of(Way::Heads, 3).kv_heads, of(Way::Heads, 3).heads), (3, 12));
        assert_eq!(of(Way::Tokens, 3).max_tokens, 171 * 64);
        for way in Way::ALL {
            assert_eq!(of(way, 1), model.model);
        }
    }

    /// Tokens of each card, counted one by one.
    fn counted(tokens: u32, window: u32, cards: u32) -> (u32, u32) {
        let card = |token: &u32| token / 64 % cards;
        let most = |from: u32| {
            (0..cards).map(|c| (from..tokens).filter(|t| card(t) == c).count() as u32).max().unwrap()
        };
        (most(0), most(tokens.saturating_sub(window)))
    }

    #[test]
    fn tokens_of_the_fullest_card_are_those_that_dealing_segments_in_turn_gives() {
        for tokens in [64, 65, 500, 512, 513, 1000] {
            for (window, cards) in [(4096, 2), (4096, 3), (128, 2), (200, 3), (1, 4), (512, 5)] {
                let config = whole(|c| {
                    (c.model.max_tokens, c.model.sliding_window) = (tokens, Some(window));
                });
                if Way::Tokens.of(&config) < cards {
                    continue;
                }
                let (all, attended) = counted(tokens, window, cards);
                let mut without = config.clone();
                without.model.sliding_window = None;
                assert_eq!(
                    of_card(Way::Tokens, &without, cards).model.max_tokens,
                    all,
                    "{tokens} on {cards}"
                );
                // With a window, whole segments are counted.
                let share = of_card(Way::Tokens, &config, cards).model;
                let read = share.sliding_window.unwrap();
                assert!((all..all + 64).contains(&share.max_tokens), "{tokens} on {cards}");
                let few = attended..attended + 2 * 64;
                assert!(
                    few.contains(&read) && read <= share.max_tokens,
                    "{tokens}, {window} on {cards}: {read}"
                );
            }
        }
    }
}
