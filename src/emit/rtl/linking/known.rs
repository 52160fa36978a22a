//! Modules whose headers have been read.

use crate::emit::rtl::spec::module::ModuleSpec;
use anyhow::{Context as _, Result};

/// Modules whose headers have been read.
#[derive(Default)]
pub(in crate::emit::rtl) struct Known {
    modules: Vec<ModuleSpec>,
}

impl Known {
    /// Adds a module.
    pub(in crate::emit::rtl) fn add(&mut self, module: ModuleSpec) {
        self.modules.push(module);
    }

    /// The module of this name.
    ///
    /// # Errors
    /// If there is none.
    pub(in crate::emit::rtl) fn module(&self, name: &str) -> Result<&ModuleSpec> {
        self.modules.iter().find(|m| m.name == name).with_context(|| format!("no module {name}"))
    }
}
