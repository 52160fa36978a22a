//! `meshkv run --save-tensors`: a file of what a run computed with, from which it can be repeated.

use crate::cli::run::typed;
use std::fs;

#[test]
fn a_run_of_saved_tensors_gives_the_same_outputs() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let tiny = fs::read_to_string("configs/tiny.toml").unwrap();
    for (format, scales) in [("bf16", "none"), ("fp8_e5m2", "head"), ("fp8_e4m3", "token"), ("int8", "token")]
    {
        let keys = format!("[kv]\nformat = \"{format}\"\nscales = \"{scales}\"\n");
        fs::write(path("kv.toml"), tiny.replace("[kv]\n", &keys)).unwrap();
        let line = format!("{} --engine model --lengths 9,12 --seed 5", path("kv.toml"));
        let first = typed(&format!("{line} --save-tensors {} --output {}", path("t.safetensors"), path("a")));
        assert_eq!(first.0, Some(0), "{format}: {}{}", first.1, first.2);
        let line = format!("{line} --tensors {} --output {}", path("t.safetensors"), path("b"));
        let again = typed(&line);
        assert_eq!(again.0, Some(0), "{format}: {}{}", again.1, again.2);
        assert!(!again.2.contains("quantised"), "{format}: {}", again.2);
        assert_eq!(fs::read(path("a")).unwrap(), fs::read(path("b")).unwrap(), "{format}");
    }
    let line = format!("configs/tiny.toml --engine model --output {0} --save-tensors {0}", path("c"));
    let (code, out, err) = typed(&line);
    assert!(code == Some(2) && err.contains("name the same file"), "{out}{err}");
}
