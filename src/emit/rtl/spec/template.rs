//! The template of a module.

use crate::emit::rtl::spec::block::Block;

/// The template of one module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::emit::rtl) struct Template {
    /// Block of the module.
    pub(in crate::emit::rtl) block: Block,
    /// Name of the module.
    pub(in crate::emit::rtl) module: &'static str,
    /// Path below `templates/rtl/`, without its ending.
    pub(in crate::emit::rtl) path: &'static str,
    /// Its text.
    pub(in crate::emit::rtl) text: &'static str,
}

/// The templates of the block `$block`: folder below `templates/rtl/` and modules in it.
macro_rules! templates {
    ($block:ident, $($folder:literal: $($module:literal),+;)+) => {
        &[$($($crate::emit::rtl::spec::template::Template {
            block: $crate::emit::rtl::spec::block::Block::$block,
            module: $module,
            path: concat!($folder, "/", $module, ".v"),
            text: include_str!(concat!("../../../../templates/rtl/", $folder, "/", $module, ".v.tera")),
        },)+)+]
    };
}
pub(in crate::emit::rtl) use templates;
