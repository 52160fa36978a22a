//! Every file that the core and the component name is emitted.

use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::emit;
use std::collections::BTreeSet;

#[test]
fn every_named_file_is_emitted() {
    let files = emit(&Design::from_config("test", &Config::default()).unwrap()).unwrap();
    let emitted: BTreeSet<_> = files.iter().map(|f| f.path.as_str()).collect();
    let text = |path: &str| &files.iter().find(|f| f.path == path).unwrap().text;

    let of_core = text("test.core").lines().filter_map(|line| line.strip_prefix("      - "));
    let of_core: Vec<_> = of_core.map(|line| line.split(": {").next().unwrap()).collect();
    let component = text("ipxact/meshkv_top.xml");
    let of_component =
        component.split("<ipxact:name>../").skip(1).map(|rest| rest.split('<').next().unwrap());
    let of_component: Vec<_> = of_component.collect();
    for path in of_core.iter().chain(&of_component) {
        assert!(emitted.contains(path), "{path}");
    }
    for path in
        ["scripts/fusesoc.tcl", "constraints/crossings.xdc", "bench/meshkv_bench.py", "lint/meshkv.vlt"]
    {
        assert!(of_core.contains(&path), "{path}");
    }
    for path in ["rtl/device/meshkv_top.v", "constraints/clocks.xdc", "sw/meshkv_registers.rdl"] {
        assert!(of_component.contains(&path), "{path}");
    }
}
