//! Numbers that the host's library writes into the cache: elements of each format, and transposed values.

use crate::support::device::host_build::{roomy, HostBuild};
use meshkv::config::KvFormat;
use meshkv::design::Design;
use std::path::Path;

#[test]
fn an_element_is_the_nearest_number_of_its_format_and_blocks_are_transposed() {
    for format in KvFormat::ALL {
        let mut config = roomy(false).configuration().clone();
        config.kv.format = format;
        let build = HostBuild::new(Design::from_config("numbers", &config).unwrap());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device/library_elements.cpp");
        build.compile(&source, "library_elements", &[]);
        let ran = build.command("library_elements").output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert_eq!(said.trim(), "the nearest", "{}", format.name());
    }
}
