//! Renders templates with the values of a design; a missing value is an error.

use crate::design::Design;
use crate::emit::rtl::linking::marker::{Mark, FUNCTIONS};
use crate::emit::rtl::linking::templates::all;
use crate::emit::rtl::pad::row::Rows;
use crate::emit::rtl::spec::all_values::values;
use crate::emit::rtl::spec::template::Template;
use crate::emit::rtl::{network, pad};
use crate::emit::templates::Templates;
use anyhow::{Context as _, Result};
use std::sync::LazyLock;
use tera::Context;

static PARSED: LazyLock<Templates> = LazyLock::new(|| {
    let mut templates = Templates::parse(all().map(|t| (t.path, t.text)));
    for function in FUNCTIONS {
        templates.function(function, Mark(function));
    }
    templates
});

/// The templates of one design.
pub(in crate::emit::rtl) struct Renderer {
    templates: Vec<&'static Template>,
    context: Context,
    source: String,
}

impl Renderer {
    /// Templates with the values of `design`; `rows` are those of PaD.
    ///
    /// # Errors
    /// If a kernel does not print: an error of this crate.
    pub(in crate::emit::rtl) fn new(design: &Design, rows: &Rows) -> Result<Renderer> {
        let templates = all().filter(|t| network::has(design, t.path) && pad::has(design, t.path)).collect();
        let context = Context::from_serialize(values(design, rows)?)?;
        Ok(Renderer { templates, context, source: format!("{}.toml", design.name) })
    }

    /// The template of a module, if this design can have it.
    pub(in crate::emit::rtl) fn template(&self, module: &str) -> Option<&'static Template> {
        self.templates.iter().copied().find(|t| t.module == module)
    }

    /// The file that the design comes from.
    pub(in crate::emit::rtl) fn source(&self) -> &str {
        &self.source
    }

    /// Verilog with marks.
    pub(in crate::emit::rtl) fn render(&self, template: &Template) -> Result<String> {
        PARSED.render(template.path, &self.context).with_context(|| format!("template {}", template.path))
    }
}
