//! Wiring of the blocks, without logic of its own.

use crate::emit::rtl::spec::template::{templates, Template};

/// Templates of its modules.
pub(super) const TEMPLATES: &[Template] = templates!(Fabric,
    "fabric":
        "meshkv_core", "meshkv_fabric", "meshkv_periphery", "meshkv_tile";
);
