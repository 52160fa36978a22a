//! Damaged configurations: for any content of the file, the reader returns a report that points into it.

use meshkv::config;
use meshkv::design::Design;
use proptest::prelude::*;
use std::fs;

/// Loads `bytes` as a file and checks that all places of the report lie in it.
fn load(bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("damaged.toml");
    fs::write(&path, bytes).unwrap();
    let lines = bytes.iter().filter(|&&b| b == b'\n').count() + 1;
    let report = match Design::load(&path) {
        Ok((_, warnings)) => warnings,
        Err(report) => {
            assert!(report.has_errors(), "refused without a reason");
            report
        }
    };
    for (line, column) in report.problems.iter().filter_map(|p| p.place) {
        assert!((1..=lines).contains(&line) && column >= 1, "{report}");
    }
    assert!(!report.to_string().contains('\u{1b}'));
}

proptest! {
    #[test]
    fn a_configuration_with_a_hole_or_a_patch_is_answered(
        at in 0usize..6000, cut in 0usize..40, patch in "[\\[\\]={}\"'.#,0-9a-zß\u{1b}\n\t -]{0,12}",
    ) {
        // Without comments, where damage would do nothing.
        let text: String = config::commented(config::Preset::U280).lines().filter(|l| !l.starts_with('#')).map(|l| format!("{l}\n")).collect();
        let at = at % text.len();
        let end = (at + cut).min(text.len());
        load(format!("{}{patch}{}", &text[..at], &text[end..]).as_bytes());
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        load(&bytes);
    }
}
