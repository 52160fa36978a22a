//! The table of pages of a controller, and the two stages in which it is read (`meshkv_page_table`).

use super::pipeline::Item;
use crate::design::Pages;

/// The table, and what is looked up.
#[derive(Debug, Clone)]
pub(super) struct Lookup {
    segment_width: u32,
    table: Box<[u32]>,
    /// The word is read; then its page.
    stages: [Item; 2],
}

impl Lookup {
    pub(super) fn new(pages: &Pages) -> Lookup {
        let table = vec![0; 1 << pages.entry_width()].into();
        Lookup { segment_width: pages.segment_width(), table, stages: [Item::default(); 2] }
    }

    /// Writes an entry.
    pub(super) fn write(&mut self, entry: u32, page: u32) {
        self.table[entry as usize] = page;
    }

    /// Nothing is looked up.
    pub(super) fn is_empty(&self) -> bool {
        self.stages.iter().all(|item| !item.valid)
    }

    /// Advances both stages: an item enters with its segment, and one leaves with its page.
    pub(super) fn step(&mut self, cache: u32, entering: Item) -> Item {
        let [first, second] = self.stages;
        let entry = cache << self.segment_width | entering.place;
        let page = if entering.valid { self.table[entry as usize] } else { 0 };
        self.stages = [Item { place: page, ..entering }, first];
        second
    }
}
