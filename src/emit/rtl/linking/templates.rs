//! The templates of all modules, block by block.

use crate::emit::rtl::spec::template::Template;
use crate::emit::rtl::{board, common, device, fabric, mare, network, pad, reduce, takv};

/// All templates.
pub(in crate::emit::rtl) fn all() -> impl Iterator<Item = &'static Template> {
    let blocks: [&[Template]; 9] = [
        common::TEMPLATES,
        network::TEMPLATES,
        mare::TEMPLATES,
        takv::TEMPLATES,
        reduce::TEMPLATES,
        pad::TEMPLATES,
        fabric::TEMPLATES,
        board::TEMPLATES,
        device::TEMPLATES,
    ];
    blocks.into_iter().flatten()
}
