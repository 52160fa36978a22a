//! Short time-outs of memories, so that checks need not wait for them as long as a card does.

use crate::emit::SourceFile;

/// Width of the counter of a time-out in the emitted files, and in those of the checks.
const WIDTHS: (u32, u32) = (16, 12);

/// Cycles after which the device under check gives up on a memory.
pub(super) const TIMEOUT: u64 = 1 << WIDTHS.1;

/// The emitted files with short time-outs. Nothing else differs.
pub(super) fn hasty(files: &[SourceFile]) -> Vec<SourceFile> {
    let width = |width: u32| format!("parameter TIMEOUT_WIDTH = {width}");
    let text = |file: &SourceFile| file.text.replace(&width(WIDTHS.0), &width(WIDTHS.1));
    files.iter().map(|file| SourceFile { path: file.path.clone(), text: text(file) }).collect()
}
