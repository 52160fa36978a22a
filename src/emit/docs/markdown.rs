//! Text as a table of the page takes it.

/// Text that does not end its table cell early.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
