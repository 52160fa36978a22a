//! Mutants that break a property: an assertion of `meshkv prove` falls in the module with the mutant.
//!
//! Where the module has no properties of its own, those of modules that it is a part of are looked at.

use super::change::guard::plain;
use super::change::mutant::Mutant;
use crate::emit::SourceFile;
use crate::synth::prove::catalogue::Proof;
use crate::synth::prove::{about, falls, Options, Provers};

/// Proofs of other modules that are looked at, at most.
const AROUND: usize = 2;

/// The module whose properties fall; none if none of them does within the time of `options` for each size.
///
/// # Errors
/// If a tool fails, or when the caller gives up.
pub fn broken(
    provers: &Provers,
    files: &[SourceFile],
    proofs: &[Proof],
    mutant: &Mutant,
    options: &Options,
) -> anyhow::Result<Option<String>> {
    let changed: Vec<SourceFile> = files
        .iter()
        .map(|file| match file.path == mutant.path {
            true => SourceFile { path: file.path.clone(), text: plain(&file.text, &mutant.edit()) },
            false => file.clone(),
        })
        .collect();
    for proof in about(proofs, &mutant.module, &changed)?.into_iter().take(AROUND) {
        if falls(provers, proof, &changed, options)? {
            return Ok(Some(proof.module.clone()));
        }
    }
    Ok(None)
}
