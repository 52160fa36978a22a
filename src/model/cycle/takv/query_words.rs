//! Queue of a column's queries (`meshkv_query_words`).

use super::bus_word::{Query, QueryGroup};
use crate::design::Design;
use crate::model::cycle::common::Fifo;

/// Groups of words that wait for the bus of a column, and the word that is next.
#[derive(Debug, Clone)]
pub(in crate::model::cycle) struct QueryWords {
    groups: Fifo<QueryGroup>,
    /// Words of a group, and of one with scales.
    size: u32,
    scales: u32,
    /// Number of the group with scales; one above it has sinks. Above all without them.
    whole: u32,
    /// Place of the next word in its group.
    at: u32,
}

impl QueryWords {
    pub(in crate::model::cycle) fn new(design: &Design) -> QueryWords {
        let size = design.bus.query_group_words;
        QueryWords {
            groups: Fifo::new(design.bus.query_depth),
            size,
            scales: design.bus.scale_heads.unwrap_or(size),
            whole: design.bus.scale_heads.map_or(u32::MAX, |_| design.bus.scale_group()),
            at: 0,
        }
    }

    /// A group is taken in this period, if there is one.
    pub(in crate::model::cycle) fn has_room(&self) -> bool {
        self.groups.has_room()
    }

    /// The next word.
    pub(in crate::model::cycle) fn word(&self) -> Option<Query> {
        self.groups.front().map(|group| {
            // Of scales each word is of a head of its own.
            let heads = if group.group >= self.whole { self.at } else { 0 };
            Query {
                stream: group.stream,
                head: group.head + heads,
                word: group.group * self.size + self.at - heads,
                data: group.words[self.at as usize],
            }
        })
    }

    /// Words of the group that is next.
    fn words(&self) -> u32 {
        let scales = self.groups.front().is_some_and(|group| group.group >= self.whole);
        if scales {
            self.scales
        } else {
            self.size
        }
    }

    /// Advances one clock period: the next word is taken, and `group` comes.
    pub(in crate::model::cycle) fn step(&mut self, taken: bool, group: Option<QueryGroup>) {
        if taken {
            self.at = (self.at + 1) % self.words();
        }
        if taken && self.at == 0 {
            self.groups.pop();
        }
        if let Some(group) = group {
            self.groups.push(group);
        }
    }
}
