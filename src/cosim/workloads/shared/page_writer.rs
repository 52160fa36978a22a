//! Writes the table of pages of a fabric, so that it has what a run's descriptors name.

use crate::cosim::dut::group_pins;
use crate::cosim::dut::pins::Pins;
use crate::cosim::dut::DutError;
use crate::cosim::hash::mix;
use crate::design::{Descriptor, Design};
use crate::emit::ModuleSpec;
use std::collections::BTreeMap;

group_pins! {
    /// Input of the table of pages.
    PagePins { page_valid page_entry page_number }
}

/// The entries of the tables that descriptors read, each once, and the pages that a design gives them.
pub(in crate::cosim) fn entries_of(design: &Design, descriptors: &[Descriptor]) -> BTreeMap<u32, u32> {
    let Some(pages) = &design.pages else { return BTreeMap::new() };
    let named = descriptors.iter().flat_map(|d| d.segments().map(|segment| (d.prefix, segment)));
    named.map(|(cache, segment)| (pages.entry(cache, segment), pages.of(cache, segment))).collect()
}

/// The design with its pages in an order that is drawn: what shared a page still does.
///
/// # Panics
/// If it has no pages.
#[must_use]
pub fn shuffled(mut design: Design, seed: u64) -> Design {
    let pages = design.pages.as_ref().expect("a design with pages");
    let mut order: Vec<u32> = (0..pages.count).collect();
    let mut random = seed;
    for place in (1..order.len()).rev() {
        random = mix(random);
        order.swap(place, (random % (place as u64 + 1)) as usize);
    }
    let table = pages.table().iter().map(|page| order[*page as usize]).collect();
    design.pages = Some(pages.with(table));
    design
}

/// The writer of a fabric's table.
#[derive(Debug)]
pub(in crate::cosim::workloads) struct PageWriter {
    at: PagePins,
    /// What the fabric has.
    there: BTreeMap<u32, u32>,
}

impl PageWriter {
    /// Looks the ports up; none if the fabric has no table.
    pub(in crate::cosim::workloads) fn find(
        pins: &mut Pins,
        top: &ModuleSpec,
    ) -> Result<Option<PageWriter>, DutError> {
        if top.port("page_valid").is_none() {
            return Ok(None);
        }
        Ok(Some(PageWriter { at: PagePins::find(pins, top, 1)?, there: BTreeMap::new() }))
    }

    /// Writes what the fabric lacks of a run, an entry a period.
    pub(in crate::cosim::workloads) fn write(
        &mut self,
        pins: &mut Pins,
        (design, descriptors): (&Design, &[Descriptor]),
    ) -> Result<(), DutError> {
        for (entry, page) in entries_of(design, descriptors) {
            if self.there.insert(entry, page) == Some(page) {
                continue;
            }
            pins.set(self.at.page_valid, 0, 1);
            pins.set(self.at.page_entry, 0, u64::from(entry));
            pins.set(self.at.page_number, 0, u64::from(page));
            pins.tick()?;
        }
        pins.set(self.at.page_valid, 0, 0);
        Ok(())
    }
}
