//! The synthesis that a design still needs: modules without a result in the cache, and about how long they take.

use super::parts::{as_instantiated, parts, Part};
use super::timing::timed::boxes;
use super::yosys::{Effort, Yosys};
use crate::design::Design;
use crate::emit;
use anyhow::Result;

/// A synthesis without a result in the cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Name of its content: two designs with the same part have the same.
    pub key: String,
    /// The module.
    pub module: &'static str,
    /// Seconds that it takes, about.
    pub seconds: f64,
    /// The part, or none: the whole design, whose parts come before it.
    pub part: Option<Part>,
}

impl Pending {
    /// True if it is a part, which needs no other result.
    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }

    /// Synthesises a part of `design`, and leaves the result in the cache. The whole design is left to
    /// [`design_timing`](super::design_timing).
    ///
    /// # Errors
    /// When a source cannot be emitted, or as [`Yosys::costs`].
    pub fn synthesise(&self, design: &Design, yosys: &Yosys) -> Result<()> {
        if let Some(part) = &self.part {
            let files = emit::emit_block(design, part.module)?;
            let change = as_instantiated(design, part);
            yosys.costs(&files, part.module, &change, Effort::Synthesise, &mut |_| ())?;
        }
        Ok(())
    }
}

/// Bits of a flit of the design whose parts were timed.
const WIDTH: f64 = 512.0;

/// Seconds of a part on a core of 2.5 GHz at that width: the part that depends on it grows in proportion.
fn seconds(module: &str, width: u32) -> f64 {
    let (fixed, at_width) = match module {
        emit::ROUTER => (10.0, 25.0),
        emit::TILE => (12.0, 24.0),
        emit::PAD => (20.0, 52.0),
        emit::FRONT => (30.0, 65.0),
        emit::TOP => (10.0, 30.0),
        _ => (8.0, 12.0),
    };
    fixed + at_width * f64::from(width) / WIDTH
}

/// What has to be synthesised before a design can be estimated without Yosys.
///
/// # Errors
/// When a source cannot be emitted, or without a cache.
pub fn pending(design: &Design, yosys: &Yosys) -> Result<Vec<Pending>> {
    let width = design.flit.data_width;
    let mut all = Vec::new();
    for part in parts(design) {
        let files = emit::emit_block(design, part.module)?;
        let key = yosys.key(&files, part.module, &as_instantiated(design, &part));
        all.push(Pending {
            key,
            module: part.module,
            seconds: seconds(part.module, width),
            part: Some(part),
        });
    }
    let files = emit::emit_block(design, emit::TOP)?;
    let key = yosys.key_of_whole(&files, emit::TOP, &boxes(design));
    all.push(Pending { key, module: emit::TOP, seconds: seconds(emit::TOP, width), part: None });
    let cached = all.iter().map(|pending| yosys.has(&pending.key)).collect::<Result<Vec<_>, _>>()?;
    Ok(all.into_iter().zip(cached).filter_map(|(pending, cached)| (!cached).then_some(pending)).collect())
}
