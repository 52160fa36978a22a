//! Waves of a run that breaks a property, put where the user wants them, with their views.

use crate::cli::output::ui::Ui;
use crate::cli::output::views;
use crate::synth::prove::catalogue::Proof;
use crate::synth::prove::Decision;
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
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
    let size_name = named(words.concat().to_lowercase().chars().map(legal).collect());
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

/// The name of a size in the names of files: a hash of it where it is so long that no file may have it.
fn named(size: String) -> String {
    const LONGEST: usize = 160;
    if size.len() <= LONGEST {
        return size;
    }
    let hash = Sha256::digest(size);
    format!("-{:016x}", hash[..8].iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use crate::cli::prepare::prove::found::*;

    #[test]
    fn a_size_of_many_parameters_has_a_name_that_a_file_may_have() {
        assert_eq!(named("-depth-2".to_owned()), "-depth-2");
        let long = named("-parameter-1".repeat(30));
        assert!(long.len() == 17 && long != named("-parameter-2".repeat(30)), "{long}");
    }
}
