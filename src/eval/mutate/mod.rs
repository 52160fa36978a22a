//! Mutants of the emitted Verilog, and whether the checks of the program find them.
//!
//! ```text
//! emitted files -- verilog, operators, curated --> mutants -- guard --> guarded files -- one build a form --> libraries
//!                                                                                          |
//!    report <-- equal (Yosys) <-- survivors <-- session <-- one process a mutant: trial, checks
//! ```
//!
//! * `change`: the changes that a text offers, the list of the repository, and all mutants in one text, each chosen by
//!   its number.
//! * [`session`]: the folder that keeps what was found; [`trial`]: one mutant under the `checks`.
//! * [`equal`]: survivors that are proved to be no fault; [`summary`]: counts by block.

mod change;
mod checks;
pub mod equal;
mod hasty;
pub mod properties;
pub mod session;
pub mod summary;
pub mod trial;

pub use change::mutant;

use crate::cosim::build::BuildForm;
use crate::design::Design;
use crate::emit::SourceFile;
use change::guard;
use change::mutant::Mutant;

/// The emitted files as the checks use them: with short time-outs.
pub fn under_check(files: &[SourceFile]) -> Vec<SourceFile> {
    hasty::hasty(files)
}

/// These files with all mutants, each guarded by its number.
pub fn guarded(files: &[SourceFile], mutants: &[Mutant]) -> Vec<SourceFile> {
    let edits: Vec<_> = mutants.iter().map(Mutant::edit).collect();
    let numbered = mutants.iter().zip(&edits).map(|(mutant, edit)| guard::Numbered {
        number: mutant.number,
        path: &mutant.path,
        edit,
    });
    guard::guarded(files, &numbered.collect::<Vec<_>>())
}

/// Forms of the libraries that the checks of a design run.
pub fn forms(design: &Design) -> Vec<BuildForm> {
    let mut forms: Vec<BuildForm> = checks::checks(design).iter().map(|check| check.form).collect();
    forms.dedup();
    forms
}

/// Names of the checks of a design, in their order.
pub fn check_names(design: &Design) -> Vec<&'static str> {
    checks::checks(design).iter().map(|check| check.name).collect()
}

#[cfg(test)]
mod tests;
