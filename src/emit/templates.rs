//! Tera for all emitters: templates are texts of this program, so their values are not escaped.

use tera::Tera;

/// Parses templates, `(name, text)` each. Callers keep the result: parsing dominates the time of emitting.
///
/// # Panics
/// If one does not parse, which every test that emits anything detects.
pub(super) fn parse<'a>(templates: impl IntoIterator<Item = (&'a str, &'a str)>) -> Tera {
    let mut tera = Tera::default();
    tera.add_raw_templates(templates).expect("templates of this program parse");
    tera.autoescape_on(vec![]);
    tera
}
