//! Tera as every emitter uses it: templates are texts of this program, and nothing is escaped.

use tera::Tera;

/// Parses templates, `(name, text)` each. To be kept: this is most of the time that emitting takes.
///
/// # Panics
/// When one does not parse, which every test that emits anything would show.
pub(super) fn parse<'a>(templates: impl IntoIterator<Item = (&'a str, &'a str)>) -> Tera {
    let mut tera = Tera::default();
    tera.add_raw_templates(templates).expect("templates of this program parse");
    tera.autoescape_on(vec![]);
    tera
}
