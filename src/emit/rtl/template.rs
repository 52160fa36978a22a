//! The template of a module.

use crate::emit::rtl::block::Block;

/// The template of one module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Template {
    /// Block of the module.
    pub(super) block: Block,
    /// Name of the module.
    pub(super) module: &'static str,
    /// Path below `templates/rtl/`, without its ending.
    pub(super) path: &'static str,
    /// What it says.
    pub(super) text: &'static str,
}

/// The templates of the block `$block`: folder below `templates/rtl/` and modules in it.
macro_rules! templates {
    ($block:ident, $($folder:literal: $($module:literal),+;)+) => {
        &[$($($crate::emit::rtl::template::Template {
            block: $crate::emit::rtl::block::Block::$block,
            module: $module,
            path: concat!($folder, "/", $module, ".v"),
            text: include_str!(concat!("../../../../templates/rtl/", $folder, "/", $module, ".v.tera")),
        },)+)+]
    };
}
pub(super) use templates;
