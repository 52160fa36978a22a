//! Guarded text: all mutants of a design in one, each chosen by its number when the library runs.
//!
//! ```text
//! a & b   becomes   ($c1("meshkv_mutant<7>(", (a | b) != (a & b), ")") ? (a | b) : (a & b))
//! ```
//!
//! The function is true for the chosen mutant, and notes whether the changed expression had another value. With none
//! chosen it notes so for all of them: a run in which the expression of a mutant never has another value is the same
//! with that mutant. Verilator copies the call into its C++ as it stands. Where mutants lie in each other, the outer one has the plain text.

use super::operators::Edit;
use crate::cosim::build::BESIDE;
use crate::emit::SourceFile;
use std::collections::BTreeMap;

/// A mutant of a design. Its number is its place in the list of all, from 1 on; 0 is the design itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::eval::mutate) struct Numbered<'e> {
    pub(in crate::eval::mutate) number: u32,
    /// Path of the file.
    pub(in crate::eval::mutate) path: &'e str,
    pub(in crate::eval::mutate) edit: &'e Edit,
}

/// The files of a design with all of these mutants, and the header that chooses one.
pub(in crate::eval::mutate) fn guarded(files: &[SourceFile], mutants: &[Numbered<'_>]) -> Vec<SourceFile> {
    let mut of_file: BTreeMap<&str, Vec<&Numbered>> = BTreeMap::new();
    mutants.iter().for_each(|mutant| of_file.entry(mutant.path).or_default().push(mutant));
    let most = mutants.iter().map(|mutant| mutant.number).max().unwrap_or(0);
    let mut text = |file: &SourceFile| match of_file.get_mut(file.path.as_str()) {
        None => file.text.clone(),
        Some(edits) => {
            // Outer ones first.
            edits.sort_by_key(|m| (m.edit.span.start, std::cmp::Reverse(m.edit.span.end), m.number));
            render(&file.text, (0, file.text.len()), edits)
        }
    };
    let with = files.iter().map(|file| SourceFile { path: file.path.clone(), text: text(file) });
    let header = SourceFile { path: format!("{BESIDE}meshkv_mutants.h"), text: header(most) };
    let mut all: Vec<SourceFile> = with.collect();
    all.push(header);
    all
}

/// One mutant's text by itself, without a guard.
pub(in crate::eval::mutate) fn plain(text: &str, edit: &Edit) -> String {
    let mutated = match edit.statement {
        true => edit.mutated.clone(),
        false => format!("({})", edit.mutated),
    };
    [&text[..edit.span.start], &mutated, &text[edit.span.end..]].concat()
}

/// The bytes of a range with its mutants, which are in the order of their bytes, outer ones first.
fn render(text: &str, (from, to): (usize, usize), edits: &[&Numbered]) -> String {
    let (mut out, mut at, mut next) = (String::new(), from, 0);
    while let Some(first) = edits.get(next) {
        let span = first.edit.span;
        let same = edits[next..].iter().take_while(|m| m.edit.span == span).count();
        let inside = edits[next + same..].iter().take_while(|m| m.edit.span.start < span.end).count();
        let (here, below) = edits[next..next + same + inside].split_at(same);
        let plain = span.of(text);
        let original = render(text, (span.start, span.end), below);
        let wrapped = here.iter().fold(original, |inner, mutant| guard(mutant, plain, &inner));
        out.push_str(&text[at..span.start]);
        out.push_str(&wrapped);
        (at, next) = (span.end, next + same + inside);
    }
    out.push_str(&text[at..to]);
    out
}

fn guard(mutant: &Numbered, plain: &str, inner: &str) -> String {
    let (number, mutated) = (mutant.number, &mutant.edit.mutated);
    if !mutant.edit.statement {
        return format!(
            "($c1(\"meshkv_mutant<{number}>(\", ({mutated}) != ({plain}), \")\") ? ({mutated}) : ({inner}))"
        );
    }
    let condition = format!("$c1(\"meshkv_mutant<{number}>(1)\")");
    format!("begin if ({condition}) begin {mutated} end else begin {inner} end end")
}

/// The header before all C++ of a library, with room for so many mutants.
fn header(most: u32) -> String {
    let words = most / 32 + 1;
    format!(
        "#pragma once\n\
         #include <cstdint>\n\
         struct meshkv_mutants_state {{\n    \
         uint32_t chosen;\n    uint32_t differed;\n    uint32_t words;\n    \
         uint32_t present[{words}];\n    uint32_t reached[{words}];\n}};\n\
         inline meshkv_mutants_state meshkv_mutants_all = {{0, 0, {words}, {{0}}, {{0}}}};\n\
         // One for each mutant that elaboration left.\n\
         template <uint32_t K> struct meshkv_mutants_site {{\n    \
         static inline const bool here = (meshkv_mutants_all.present[K / 32] |= 1u << (K % 32), true);\n}};\n\
         template <uint32_t K> inline __attribute__((always_inline)) bool meshkv_mutant(bool differs) {{\n    \
         (void)&meshkv_mutants_site<K>::here;\n    \
         if (__builtin_expect(meshkv_mutants_all.chosen != K, 1)) {{\n        \
         if (meshkv_mutants_all.chosen == 0 && differs) meshkv_mutants_all.reached[K / 32] |= 1u << (K % 32);\n        \
         return false;\n    }}\n    \
         meshkv_mutants_all.differed |= differs;\n    return true;\n}}\n\
         extern \"C\" __attribute__((visibility(\"default\"), used)) inline uint32_t* meshkv_mutants() {{\n    \
         return &meshkv_mutants_all.chosen;\n}}\n"
    )
}
