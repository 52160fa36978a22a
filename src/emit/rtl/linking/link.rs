//! Modules from rendered templates: their list, their headers, and the text of each.
//!
//! A design has the modules that its roots instantiate, directly or not. Each is rendered once; then headers are read
//! from the leaves up, and marks are replaced from the headers of other modules.

use crate::emit::rtl::linking::header;
use crate::emit::rtl::linking::instance::{instance, wires};
use crate::emit::rtl::linking::known::Known;
use crate::emit::rtl::linking::marker::Marker;
use crate::emit::rtl::linking::render::Renderer;
use crate::emit::rtl::spec::module::ModuleSpec;
use crate::emit::rtl::spec::template::Template;
use anyhow::{Context as _, Result};

/// A module and its Verilog.
pub(in crate::emit::rtl) struct Module {
    /// Its header: parameters and ports.
    pub(in crate::emit::rtl) spec: ModuleSpec,
    /// Its text from the first line to the last.
    pub(in crate::emit::rtl) text: String,
}

/// A rendered template.
struct Draft {
    template: &'static Template,
    text: String,
    instances: Vec<&'static str>,
}

/// The modules of `roots` and of all that they instantiate, each after those it instantiates.
///
/// # Errors
/// If a template does not render or its header has another form: an error of this crate.
pub(in crate::emit::rtl) fn link(renderer: &Renderer, roots: &[&str]) -> Result<Vec<Module>> {
    let mut drafts: Vec<Draft> = Vec::new();
    for root in roots {
        let template = renderer.template(root).with_context(|| format!("no module {root}"))?;
        draft(renderer, template, &mut drafts)?;
    }
    // A block uses only those before it, so this keeps the order.
    drafts.sort_by_key(|draft| draft.template.block);
    let mut known = Known::default();
    drafts
        .into_iter()
        .map(|draft| {
            let name = draft.template.module;
            let module = module(renderer, draft, &known).with_context(|| format!("module {name}"))?;
            known.add(module.spec.clone());
            Ok(module)
        })
        .collect()
}

/// Renders a template, after those of the modules that it instantiates.
fn draft(renderer: &Renderer, template: &'static Template, drafts: &mut Vec<Draft>) -> Result<()> {
    if drafts.iter().any(|draft| draft.template.module == template.module) {
        return Ok(());
    }
    let text = renderer.render(template)?;
    let instances = instances(renderer, &text)?;
    for instance in &instances {
        draft(renderer, instance, drafts)?;
    }
    drafts.push(Draft { template, text, instances: instances.iter().map(|t| t.module).collect() });
    Ok(())
}

/// Templates of the modules that a text instantiates, in the order of their first instances.
fn instances(renderer: &Renderer, text: &str) -> Result<Vec<&'static Template>> {
    let (texts, markers) = Marker::split(text)?;
    let mut found: Vec<&'static Template> = Vec::new();
    let mut add = |name: &str| {
        if let Some(template) = renderer.template(name).filter(|t| !found.contains(t)) {
            found.push(template);
        }
    };
    for (i, text) in texts.iter().enumerate() {
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (name, next) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            if name.starts_with("meshkv_") && (next == "#(" || next.starts_with("u_")) {
                add(name);
            }
        }
        if let Some(marker) = markers.get(i).filter(|m| m.function == "instance") {
            add(marker.text("module"));
        }
    }
    Ok(found)
}

/// Reads a header and replaces the marks of a body.
fn module(renderer: &Renderer, draft: Draft, known: &Known) -> Result<Module> {
    let (spec, body) = header::read(draft.template, &draft.text, draft.instances, known)?;
    let (texts, markers) = Marker::split(body)?;
    let mut text = header::print(&spec, renderer.source());
    for (i, part) in texts.iter().enumerate() {
        text += part;
        if let Some(marker) = markers.get(i) {
            text += &match marker.function.as_str() {
                "wires" => wires(marker, &spec, known)?,
                _ => instance(marker, &spec, known)?,
            };
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    Ok(Module { spec, text })
}
