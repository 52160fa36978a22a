//! Waves of a run that breaks a property, put where the user wants them, with their views.

use crate::cli::output::ui::Ui;
use crate::cli::output::views;
use crate::synth::prove::catalogue::Proof;
use crate::synth::prove::Decision;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Copies the waves of `decision` into `folder`, named after module and size, and says what they show.
pub(super) fn keep(
    folder: &Path,
    name: &str,
    (proof, size): (&Proof, usize),
    (waves, decision): (&Path, &Decision),
    ui: &Ui,
) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let words: Vec<_> = proof.sizes[size].values().map(|(name, value)| format!("-{name}-{value}")).collect();
    let legal = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let size_name: String = words.concat().to_lowercase().chars().map(legal).collect();
    let path = folder.join(format!("{}{size_name}.fst", proof.module));
    fs::copy(waves, &path).with_context(|| format!("cannot write {}", path.display()))?;
    ui.warn(format_args!(
        "{} at {} breaks {}: {} shows it",
        proof.module,
        proof.sizes[size],
        decision.broken.join(", "),
        path.display()
    ));
    views::of_module(&path, name, ui)
}
