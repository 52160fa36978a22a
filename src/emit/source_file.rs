//! One file of the output.

/// One file of the output, by its path below the output folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path below the output folder, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}
