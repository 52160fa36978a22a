//! Messages for wrong and unwise configurations, compared word for word.
//!
//! Every file of `tests/config/rejected` and `tests/config/warned` has the exact text that it must give beside it.
//! MESHKV_BLESS=1 rewrites the texts; the diff is for review.

use meshkv::config::{self, Severity};
use meshkv::design::Design;
use std::fs;
use std::path::{Path, PathBuf};

/// All configurations of a folder, sorted, as the user would name them.
fn configurations(dir: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{dir} is empty");
    paths
}

/// Compares with the golden beside `path`, or rewrites it.
fn expect_text(path: &Path, text: &str) -> Option<String> {
    let golden = path.with_extension("txt");
    let text = format!("{text}\n");
    if std::env::var_os("MESHKV_BLESS").is_some() {
        fs::write(&golden, text).unwrap();
        return None;
    }
    let expected = fs::read_to_string(&golden).unwrap_or_default();
    (expected != text).then(|| format!("{}: expected\n{expected}got\n{text}", golden.display()))
}

#[test]
fn every_rejected_configuration_gets_its_exact_message() {
    let mut stale = Vec::new();
    for path in configurations("tests/config/rejected") {
        match Design::load(&path) {
            Ok(_) => stale.push(format!("{} is accepted", path.display())),
            Err(report) => stale.extend(expect_text(&path, &report.to_string())),
        }
    }
    assert!(stale.is_empty(), "{}\nrun `make bless` and review the diff", stale.join("\n"));
}

#[test]
fn every_unwise_configuration_loads_with_its_exact_warning() {
    let mut stale = Vec::new();
    for path in configurations("tests/config/warned") {
        let (_, warnings) = Design::load(&path).unwrap_or_else(|report| panic!("{report}"));
        assert!(warnings.problems.iter().all(|p| p.severity == Severity::Warning));
        stale.extend(expect_text(&path, &warnings.to_string()));
    }
    assert!(stale.is_empty(), "{}\nrun `make bless` and review the diff", stale.join("\n"));
}

#[test]
fn every_golden_has_its_configuration() {
    for dir in ["tests/config/rejected", "tests/config/warned"] {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            assert!(path.with_extension("toml").exists(), "{} is left over", path.display());
        }
    }
}

/// Paths of all keys, from the schema that the program prints.
fn all_keys() -> Vec<String> {
    let schema = config::json_schema();
    let mut keys = Vec::new();
    for (name, property) in schema["properties"].as_object().unwrap() {
        // The version and what is accepted are no keys of the design.
        let Some(reference) = property["$ref"].as_str() else { continue };
        let reference = reference.trim_start_matches("#/$defs/");
        match schema["$defs"][reference]["properties"].as_object() {
            Some(inner) => keys.extend(inner.keys().map(|key| format!("{name}.{key}"))),
            None => keys.push(name.clone()),
        }
    }
    keys
}

#[test]
fn the_goldens_of_wrong_types_cover_every_key() {
    let golden = fs::read_to_string("tests/config/rejected/every_key_of_the_wrong_type.txt").unwrap();
    for key in all_keys() {
        assert!(golden.contains(&format!(": {key} is ")), "{key} has no golden of a wrong type");
    }
}

#[test]
fn every_number_has_a_smallest_and_a_largest_legal_value() {
    let schema = config::json_schema();
    for (name, table) in schema["$defs"].as_object().unwrap() {
        for (key, property) in table["properties"].as_object().into_iter().flatten() {
            let kind = property["type"].to_string();
            if !kind.contains("integer") && !kind.contains("number") {
                continue;
            }
            let least = property.get("minimum").or(property.get("exclusiveMinimum"));
            let bounded = least.is_some() && property.get("maximum").is_some();
            assert!(bounded || property.get("enum").is_some(), "{name}.{key} has no limits");
            for golden in ["every_number_too_small", "every_number_too_large"] {
                let text = fs::read_to_string(format!("tests/config/rejected/{golden}.txt")).unwrap();
                let told =
                    [format!(".{key} is "), format!(" {key} = ")].iter().any(|words| text.contains(words));
                assert!(told, "{golden} lacks {key}");
            }
        }
    }
}

#[test]
fn a_missing_file_is_reported_with_the_way_out() {
    let report = Design::load(Path::new("tests/nowhere.toml")).unwrap_err();
    assert_eq!(
        report.to_string(),
        "tests/nowhere.toml: cannot be read: No such file or directory (os error 2)\n  \
         help: name an existing file, or write one with `meshkv init`; `meshkv examples` writes those of the help texts"
    );
}

#[test]
fn a_folder_is_no_configuration() {
    let report = Design::load(Path::new("tests/config/rejected")).unwrap_err();
    assert!(report.to_string().starts_with("tests/config/rejected: cannot be read: "), "{report}");
}
