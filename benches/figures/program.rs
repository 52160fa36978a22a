//! Runs `meshkv` as a user would and reads its JSON.

use anyhow::{ensure, Context, Result};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The reference configuration.
pub const REFERENCE: &str = "configs/meshkv.toml";

/// The same without registers between SLRs: for goals from networks without them.
pub const PLAIN: &str = "configs/no_slr_registers.toml";

/// Remark on a figure of [`REFERENCE`] next to one of [`PLAIN`].
pub const WITH_REGISTERS: &str = "with registers between SLRs";

/// Seeds of random figures.
pub const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// [`SEEDS`] in a command.
pub const SEEDS_SHOWN: &str = "--seed 1..5";

/// The program, built optimised by `cargo bench`.
pub fn meshkv() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshkv"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// Output of `meshkv ARGS --json`. A failed check is an error: a broken fabric gives no figures.
pub fn json(args: &str) -> Result<Value> {
    let output = meshkv().args(args.split_whitespace()).args(["--json", "-q"]).output()?;
    let said = |text| String::from_utf8_lossy(text).trim().to_owned();
    ensure!(
        output.status.success(),
        "meshkv {args}: {}\n{}\n{}",
        output.status,
        said(&output.stderr),
        said(&output.stdout)
    );
    serde_json::from_slice(&output.stdout).with_context(|| format!("meshkv {args}: no JSON"))
}

/// A number of a result.
pub fn number(value: &Value, key: &str) -> Result<f64> {
    value[key].as_f64().with_context(|| format!("no number {key}"))
}

/// `meshkv cosim` of a configuration with `args`, once for every seed.
pub fn seeds(config: &str, args: &str) -> Result<Vec<Value>> {
    SEEDS.map(|seed| json(&format!("cosim {config} {args} --seed {seed}"))).collect()
}

/// `meshkv sim` of a configuration with `args`, once for every seed: the same figures without Verilator, sooner.
pub fn seeds_of_model(config: &str, args: &str) -> Result<Vec<Value>> {
    SEEDS.map(|seed| json(&format!("sim {config} {args} --seed {seed}"))).collect()
}

/// A number of each result.
pub fn numbers(values: &[Value], key: &str) -> Result<Vec<f64>> {
    values.iter().map(|value| number(value, key)).collect()
}

/// The command of [`seeds`] as a reader would type it.
pub fn shown(config: &str, args: &str) -> String {
    format!("meshkv cosim {config} {args} {SEEDS_SHOWN}")
}

/// The command of [`seeds_of_model`] as a reader would type it.
pub fn shown_of_model(config: &str, args: &str) -> String {
    format!("meshkv sim {config} {args} {SEEDS_SHOWN}")
}

/// `text` as a file below `dir`, and its path.
pub fn file(dir: &Path, name: &str, text: &str) -> Result<String> {
    let path = dir.join(name);
    std::fs::write(&path, text)?;
    Ok(path.display().to_string())
}
