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

/// The same, to be changed. It has lost its properties, which may repeat a text of the module and which no simulation reads.
pub fn source_mut<'a>(files: &'a mut [SourceFile], module: &str) -> &'a mut SourceFile {
    let file = files.iter_mut().find(|f| is_source(f, module)).unwrap_or_else(|| panic!("no {module}"));
    if let Some((before, after)) = file.text.split_once("`ifdef FORMAL\n") {
        let after = after.split_once("`endif\n").expect("the properties end").1;
        file.text = before.to_owned() + after;
    }
    file
}
