//! Configurations that must load as they are.

use meshkv::config::{self, Config};
use meshkv::design::Design;
use std::fs;
use std::path::Path;

/// Loads `text` as `design.toml` and expects no complaint.
fn load(text: &str) -> Config {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("design.toml");
    fs::write(&path, text).unwrap();
    let (design, warnings) = Design::load(&path).unwrap_or_else(|report| panic!("{report}"));
    assert!(warnings.is_empty(), "{warnings}");
    assert_eq!(design.name, "design");
    design.config
}

#[test]
fn the_commented_configuration_is_the_default() {
    assert_eq!(load(&config::commented()), Config::default());
}

#[test]
fn the_examples_in_the_commented_configuration_are_legal() {
    let text =
        config::commented().replace("# a = ", "a = ").replace("# sliding_window = ", "sliding_window = ");
    let config = load(&text);
    assert_eq!((config.takv.a, config.model.sliding_window), (Some(9), Some(4096)));
}

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(load(""), Config::default());
}

#[test]
fn inline_tables_dotted_keys_and_other_radixes_are_read() {
    let config = load("mesh = { cols = 0x4, rows = 0b100 }\npe.head_dim = 1_28\nclock.noc_mhz = 300\n");
    assert_eq!((config.mesh.cols, config.mesh.rows, config.pe.head_dim), (4, 4, 128));
    assert_eq!(config.clock.noc_mhz, 300.0);
}

#[test]
fn whatever_is_serialised_reads_back_equal() {
    let mut config = Config::default();
    config.mesh.cols = 4;
    config.takv.a = Some(11);
    config.model.sliding_window = Some(128);
    config.clock.pe_mhz = 312.5;
    assert_eq!(load(&toml::to_string(&config).unwrap()), config);
}

#[test]
fn the_configuration_of_the_device_spells_out_the_defaults_but_for_flits_and_rows() {
    let (design, warnings) = Design::load(Path::new("configs/u280_8x8.toml")).unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    let mut config = design.config;
    assert_eq!(config.takv.a.take(), Some(9));
    assert_eq!(config.memory.tiles_per_port.take(), Some(2));
    assert_eq!(std::mem::replace(&mut config.noc.flit_width, 512), 256);
    assert_eq!(std::mem::replace(&mut config.pe.array_rows, 2), 1);
    assert_eq!(config, Config::default());

    let text = fs::read_to_string("configs/u280_8x8.toml").unwrap();
    let commented = config::commented().replace("flit_width = 512", "flit_width = 256");
    let commented = commented.replace("array_rows = 2", "array_rows = 1");
    for line in commented.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        assert!(text.lines().any(|l| l == line), "{line} is missing");
    }
}

#[test]
fn the_tiny_configuration_loads_without_a_warning() {
    let (design, warnings) = Design::load(Path::new("configs/tiny.toml")).unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    assert_eq!((design.mesh.cols(), design.mesh.rows(), design.flit.data_width), (3, 2, 64));
}
