//! Tera for all emitters: templates are texts of this program, so their values are not escaped.
//!
//! Tera parses plain text character by character, which would be half of the time of emitting. So a template is parsed
//! without the texts between its tags; their places are marked, and filled when it has been rendered.

use tera::{Context, Function, Tera};

/// Character before and after the number of a text that is kept aside; no template has it.
const EDGE: char = '\u{2}';

/// Texts shorter than this stay where they are.
const SHORT: usize = 16;

/// Templates and the texts between their tags.
pub(super) struct Templates {
    tera: Tera,
    texts: Vec<&'static str>,
}

impl Templates {
    /// Parses templates, `(name, text)` each. Callers keep the result.
    ///
    /// # Panics
    /// If one does not parse, which every test that emits anything detects.
    pub(super) fn parse(templates: impl IntoIterator<Item = (&'static str, &'static str)>) -> Templates {
        let mut parsed = Templates { tera: Tera::default(), texts: Vec::new() };
        let mut skeletons = Vec::new();
        for (name, text) in templates {
            skeletons.push((name, skeleton(text, &mut parsed.texts)));
        }
        parsed.tera.add_raw_templates(skeletons).expect("templates of this program parse");
        parsed.tera.autoescape_on(vec![]);
        parsed
    }

    /// Adds a function that templates may call.
    pub(super) fn function(&mut self, name: &str, function: impl Function + 'static) {
        self.tera.register_function(name, function);
    }

    /// Renders a template.
    ///
    /// # Errors
    /// If it names a value that `context` has not.
    pub(super) fn render(&self, name: &str, context: &Context) -> tera::Result<String> {
        let rendered = self.tera.render(name, context)?;
        let mut text = String::with_capacity(2 * rendered.len());
        for (i, part) in rendered.split(EDGE).enumerate() {
            let kept = part.parse::<usize>().ok().filter(|_| i % 2 == 1);
            text += kept.map_or(part, |number| self.texts[number]);
        }
        Ok(text)
    }
}

/// A template whose texts between tags are moved to `texts`. The blanks around a text stay, for tags may trim them.
fn skeleton(template: &'static str, texts: &mut Vec<&'static str>) -> String {
    let mut skeleton = String::new();
    let mut rest = template;
    while !rest.is_empty() {
        let (text, tags) = rest.split_at(next_tag(rest));
        let (tag, behind) = tags.split_at(tag_length(tags));
        let kept = text.trim();
        if kept.len() < SHORT {
            skeleton += text;
        } else {
            let (before, after) = text.split_once(kept).expect("a part of it");
            skeleton += &format!("{before}{EDGE}{}{EDGE}{after}", texts.len());
            texts.push(kept);
        }
        skeleton += tag;
        rest = behind;
    }
    skeleton
}

/// Bytes before the next tag.
fn next_tag(text: &str) -> usize {
    let opens = |&(at, _): &(usize, &str)| text[at + 1..].starts_with(['{', '%', '#']);
    text.match_indices('{').find(opens).map_or(text.len(), |(at, _)| at)
}

/// Bytes of the tag that the text begins with; one of `raw` ends behind `endraw`.
fn tag_length(text: &str) -> usize {
    let closes = match text.get(..2) {
        None => return text.len(),
        Some("{#") => return text.find("#}").map_or(text.len(), |end| end + 2),
        Some(_) if text.starts_with("{% raw %}") => {
            return text.find("{% endraw %}").map_or(text.len(), |end| end + "{% endraw %}".len());
        }
        Some("{%") => "%}",
        Some(_) => "}}",
    };
    let mut quoted = false;
    for (at, character) in text.char_indices() {
        quoted ^= character == '"';
        if !quoted && text[at..].starts_with(closes) {
            return at + closes.len();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"
// A text that is long enough to be kept aside. {# And "a comment. #}
{%- for name in names %}
    wire [3:0] {{ name ~ "}}" }}_of_a_long_name = {% raw %}{{WIDTH-1{1'b0}}, 1'b1}{% endraw %};   
{%- endfor %}
    wire [3:0] the_last = { {3{first}}, 1'b0};
"#;

    #[test]
    fn a_template_renders_as_tera_renders_the_whole_of_it() {
        let mut context = Context::new();
        context.insert("names", &["a", "b"]);
        let whole = Tera::one_off(TEMPLATE, &context, false).unwrap();
        let parsed = Templates::parse([("x", TEMPLATE)]);
        assert_eq!(parsed.texts.len(), 3, "{:?}", parsed.texts);
        assert_eq!(parsed.render("x", &context).unwrap(), whole);
        assert!(whole.contains("a}}_of_a_long_name = {{WIDTH"), "{whole}");
    }

    #[test]
    fn a_tag_without_an_end_is_refused() {
        for text in ["a text in front of the tag {{ name", "{% raw %} {{", "{"] {
            let texts = &mut Vec::new();
            assert_eq!(skeleton(text, texts).contains(EDGE), !texts.is_empty());
            assert!(Tera::default().add_raw_template("x", &skeleton(text, texts)).is_err() || text == "{");
        }
    }
}
