//! Escapes text for a table of the page.

/// Text that does not end its table cell early.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
