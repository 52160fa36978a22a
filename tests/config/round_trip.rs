//! Configurations that must load as they are.

use clap::ValueEnum;
use meshkv::config::{self, Config, KvScales, LayerGroup, Preset, Spread};
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
    design.configuration().clone()
}

/// A configuration that comes with the program and gives no warning, but for the paper's layer in one column.
fn named(name: &str) -> Config {
    let (design, warnings) = Design::load_for_the_card(&Path::new("configs").join(name)).unwrap();
    let mut others = warnings.problems.iter().filter(|p| !p.message.starts_with("takv.column_stride"));
    assert!(others.next().is_none(), "{warnings}");
    design.configuration().clone()
}

#[test]
fn a_commented_configuration_has_the_values_of_its_preset() {
    let files = ["u280_4x8.toml", "u280_shell.toml", "u55c_4x8.toml", "meshkv.toml", "tiny.toml"];
    for (preset, file) in Preset::FABRICS.into_iter().zip(files) {
        let text = config::commented(preset);
        let values = fs::read_to_string(Path::new("configs").join(file)).unwrap();
        assert_eq!(load(&text), load(&values));
        assert!(text.starts_with("# meshkv configuration "), "{text}");
    }
}

#[test]
fn the_preset_of_every_model_loads_without_a_warning() {
    let all = Preset::value_variants().iter().filter(|preset| !Preset::FABRICS.contains(preset));
    let texts: Vec<String> = all.map(|preset| config::commented(*preset)).collect();
    assert!(texts.len() >= 8);
    for text in texts {
        assert!(load(&text).kv.pages, "{text}");
    }
}

#[test]
fn layers_of_several_kinds_read_back_from_the_commented_configuration() {
    let text = config::commented(Preset::GptOss20);
    let near = LayerGroup { count: 1, window: Some(128), sinks: true };
    assert_eq!(load(&text).model.groups, Some(vec![near, LayerGroup { window: None, ..near }]), "{text}");
}

#[test]
fn the_commented_configuration_has_every_key_with_its_default() {
    let text = config::commented(Preset::U280);
    for key in config::tables().iter().flat_map(|table| &table.keys) {
        let line = |l: &str| l.trim_start_matches("# ").starts_with(&format!("{} = ", key.name));
        assert!(text.lines().any(line), "{} is missing", key.path);
    }
    assert!(text.contains("Default: 8."), "{text}");
}

#[test]
fn the_examples_in_the_commented_configuration_are_legal() {
    let text = config::commented(Preset::U280).replace("# sliding_window = ", "sliding_window = ");
    assert_eq!(load(&text).model.sliding_window, Some(4096));
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
fn the_configurations_of_the_card_fit_its_memory() {
    for name in [
        "u280_4x8",
        "u280_4x8_b8",
        "u280_4x8_fp8",
        "u280_4x8_int8",
        "u280_shell",
        "u280_8x8",
        "u280_16x4",
        "u55c_4x8",
        "u55c_4x8_fp8",
    ] {
        named(&format!("{name}.toml"));
    }
}

#[test]
fn the_8x8_configuration_of_the_card_is_the_papers_but_for_what_does_not_fit() {
    let mut config = named("u280_8x8.toml");
    assert_eq!(config.takv.a.take(), Some(9));
    assert_eq!(config.pad.fifo_depth.take(), Some(96));
    assert_eq!(config.memory.tiles_per_port.take(), Some(2));
    assert_eq!(std::mem::replace(&mut config.memory.capacity_gib, 40.0), 8.0);
    assert_eq!(std::mem::replace(&mut config.model.layers, 32), 8);
    assert_eq!(std::mem::replace(&mut config.model.max_streams, 8), 1);
    assert_eq!(std::mem::replace(&mut config.noc.flit_width, 512), 256);
    assert_eq!(std::mem::replace(&mut config.noc.router_stages, 2), 3);
    assert_eq!(std::mem::replace(&mut config.pe.array_rows, 2), 1);
    assert_eq!(config.pe.root_lanes.take(), Some(8));
    assert_eq!(std::mem::take(&mut config.takv.spread), Spread::Slice);
    assert_eq!(config.kv.bytes_per_element.take(), Some(2));
    assert_eq!(std::mem::take(&mut config.kv.scales), KvScales::None);
    assert_eq!(config, Config::default());
}

#[test]
fn the_configurations_of_the_card_spell_out_every_key() {
    for name in [
        "u280_4x8",
        "u280_4x8_b8",
        "u280_4x8_fp8",
        "u280_4x8_int8",
        "u280_shell",
        "u280_8x8",
        "u55c_4x8",
        "u55c_4x8_fp8",
    ] {
        let text = fs::read_to_string(format!("configs/{name}.toml")).unwrap();
        for key in config::tables().iter().flat_map(|table| &table.keys) {
            let spelled = text.lines().any(|line| line.starts_with(&format!("{} = ", key.name)));
            // That there is no window, no group and no swap is a comment; without pages there is none to count. The memory
            // of queries is the card's.
            const LEFT_OUT: [&str; 6] =
                ["sliding_window", "groups", "swap_epoch", "page_count", "caches", "io"];
            assert!(spelled || LEFT_OUT.contains(&key.name.as_str()), "{name}: {} is missing", key.path);
        }
    }
}

#[test]
fn the_tiny_configuration_loads_without_a_warning() {
    let (design, warnings) = Design::load(Path::new("configs/tiny.toml")).unwrap();
    assert!(warnings.is_empty(), "{warnings}");
    assert_eq!((design.mesh.cols(), design.mesh.rows(), design.flit.data_width), (3, 2, 64));
}
