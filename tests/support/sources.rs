//! Emitted modules by name, in any folder.

use meshkv::emit::SourceFile;

/// Tests whether a file is the source of a module.
pub fn is_source(file: &SourceFile, module: &str) -> bool {
    file.path.starts_with("rtl/") && file.path.ends_with(&format!("/{module}.v"))
}

/// The source of a module.
pub fn source<'a>(files: &'a [SourceFile], module: &str) -> &'a SourceFile {
    files.iter().find(|f| is_source(f, module)).unwrap_or_else(|| panic!("no {module}"))
}

/// The same, to be changed.
pub fn source_mut<'a>(files: &'a mut [SourceFile], module: &str) -> &'a mut SourceFile {
    files.iter_mut().find(|f| is_source(f, module)).unwrap_or_else(|| panic!("no {module}"))
}
