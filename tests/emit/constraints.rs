//! Constraints match the netlist as often as they state; slips are found and named.

use crate::support::verilated::design;
use meshkv::design::Design;
use meshkv::emit::{converters, emit, modules, SourceFile, TOP};
use meshkv::synth::lint::passes::{lay_out, Depth, Linters};
use meshkv::synth::lint::vivado::{self, Installation};
use meshkv::synth::lint::{defines, graph::flatten};
use meshkv::tools::interrupt::Interrupt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A design laid out with its netlist, on which constraints run.
pub(crate) struct Bench {
    linters: Linters,
    dir: TempDir,
    /// The top and the converters.
    tops: Vec<&'static str>,
}

impl Bench {
    pub(crate) fn new(design: &Design) -> Bench {
        let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
        let dir = tempfile::tempdir().unwrap();
        let sources = lay_out(&emit(design).unwrap(), dir.path()).unwrap();
        let converters = converters(&modules(design)).into_iter().map(|converter| converter.module);
        let tops: Vec<_> = [TOP].into_iter().chain(converters).collect();
        for pass in tops.iter().flat_map(|top| linters.passes(&sources, top, Depth::Places)) {
            if pass.tool.name == "yosys" {
                let found = pass.run(dir.path(), &Interrupt::default()).unwrap();
                assert!(found.is_empty(), "{found:?}");
            }
        }
        let bench = Bench { linters, dir, tops };
        assert_eq!(bench.hierarchy(), [""; 0]);
        bench
    }

    /// Flattens the netlist, all but what hierarchy.xdc keeps.
    fn hierarchy(&self) -> Vec<String> {
        let flatten =
            |top| flatten::flatten(&self.linters, self.dir.path(), top, &Interrupt::default()).unwrap();
        self.tops.iter().copied().flat_map(flatten).map(|m| m.text).collect()
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    pub(crate) fn constraints(&self) -> Vec<String> {
        let (tclsh, dir) = (&self.linters.tclsh, self.dir.path());
        let found = |top| vivado::constraints(tclsh, dir, top, &Interrupt::default()).unwrap();
        self.tops.iter().copied().flat_map(found).map(|m| m.text).collect()
    }

    /// The same after what is kept has changed.
    fn all_constraints(&self) -> Vec<String> {
        [self.hierarchy(), self.constraints()].concat()
    }

    pub(crate) fn pins(&self) -> Vec<String> {
        let found = vivado::pins(&self.linters, self.dir.path(), &Interrupt::default()).unwrap();
        found.into_iter().map(|m| m.text).collect()
    }

    pub(crate) fn script(&self, name: &str, found: Installation<'_>) -> Vec<String> {
        let tclsh = &self.linters.tclsh;
        let said = vivado::script(tclsh, self.dir.path(), (TOP, name), found, &Interrupt::default()).unwrap();
        said.into_iter().map(|m| m.text).collect()
    }

    /// The messages about macros.
    fn defines(&self) -> Vec<String> {
        defines::check(self.dir.path()).unwrap().into_iter().map(|m| m.text).collect()
    }

    pub(crate) fn scripts(&self) -> Vec<String> {
        vivado::SCRIPTS.iter().flat_map(|name| self.script(name, Installation::default())).collect()
    }

    /// Replaces the first `from` of a file by `to` and returns the findings.
    pub(crate) fn with(
        &self,
        file: &str,
        from: &str,
        to: &str,
        run: impl Fn(&Bench) -> Vec<String>,
    ) -> Vec<String> {
        let path = self.path(file);
        let sound = std::fs::read_to_string(&path).unwrap();
        assert!(sound.contains(from), "{file} has no {from}");
        std::fs::write(&path, sound.replacen(from, to, 1)).unwrap();
        let found = run(self);
        std::fs::write(&path, sound).unwrap();
        found
    }
}

pub(super) fn named(name: &str) -> Design {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
    Design::load(&path).unwrap().0
}

#[test]
fn constraints_and_scripts_of_every_shape_find_what_they_name() {
    // Two rows, four and eight: what stands in one region is in two and in three.
    for design in &[named("tiny"), named("u280_16x4"), named("u280_8x8")] {
        let bench = Bench::new(design);
        for found in [bench.constraints(), bench.pins(), bench.scripts()] {
            assert_eq!(found, [""; 0], "{}x{}", design.mesh.cols(), design.mesh.rows());
        }
    }
}

#[test]
fn a_slip_in_a_constraint_is_named_with_file_and_line() {
    let bench = Bench::new(&named("tiny"));
    assert_eq!(bench.constraints(), [""; 0]);
    let crossings = "constraints/crossings.xdc";
    let floorplan = "constraints/floorplan.xdc";
    for (file, from, to, says) in [
        (crossings, "u_write/gray_q_reg[*]", "u_write/grey_q_reg[*]", "finds nothing named"),
        (crossings, "# expect 120", "# expect 121", "expected 121 objects, found 120"),
        (crossings, "# expect 120\n", "", "has a wildcard, and no comment `# expect`"),
        (
            crossings,
            "set_max_delay -datapath_only",
            "set_max_delay -datapath_onlyy",
            "is no option of set_max_delay",
        ),
        (crossings, "\nset_bus_skew ", "\nset_bus_skews ", "is not valid in an XDC file"),
        (crossings, "$net_clock -to", "$no_clock -to", "no such variable"),
        (crossings, "[get_ports", "[get_port", "is not valid in an XDC file"),
        (crossings, "}] -to", "} -to", "that opens here is not closed"),
        (crossings, "-min PERIOD $net_clock", "-min PERIOD {}", "is a property of a clock"),
        (floorplan, "CLOCKREGION_X3Y7", "CLOCKREGION_X8Y7", "are no clock regions of the FPGA"),
        (floorplan, "gen_col[0].u_router", "gen_col[9].u_router", "finds nothing named"),
        (
            floorplan,
            "[get_cells {u_front}]",
            "[get_cells {u_front/u_run}]",
            "synthesis dissolves u_front/u_run;",
        ),
        (
            crossings,
            "u_front/u_reset/u_held/first_q_reg*",
            "u_front/u_queue/count_q_reg*",
            "synthesis dissolves u_front/u_queue;",
        ),
        (floorplan, "gen_col[0].u_router", "gen_col[1].u_router", "is in pblock"),
        (
            floorplan,
            "get_pblocks meshkv_slr1_west",
            "get_pblocks meshkv_slr1_wset",
            "finds nothing named meshkv_slr1_wset",
        ),
        (
            floorplan,
            "create_pblock",
            "foreach x {1 2} {}\ncreate_pblock",
            "foreach is not valid in an XDC file",
        ),
    ] {
        let found = bench.with(file, from, to, Bench::constraints);
        let place = format!("{file}:");
        let hit = found.iter().any(|text| text.starts_with(&place) && text.contains(says));
        assert!(hit, "{from} -> {to} in {file}: {found:?}");
    }
}

/// The commands of a file of constraints, each with the comment that says how many objects it finds.
fn commands(xdc: &str) -> Vec<String> {
    let blocks = xdc.split("\n\n").skip(1).map(|block| {
        block
            .lines()
            .filter(|line| !line.starts_with('#') || line.starts_with("# expect"))
            .collect::<Vec<_>>()
    });
    blocks.map(|lines| lines.join("\n")).collect()
}

/// Asserts that constraints of a design name cells of every instance that is kept: without one of the commands that
/// keep it, they find nothing there.
fn every_instance_is_needed(bench: &Bench, commands: &[String]) {
    for command in commands {
        let found = bench.with("constraints/hierarchy.xdc", command, "", Bench::all_constraints);
        let hit = found.iter().any(|text| {
            (text.starts_with("constraints/crossings.xdc:") || text.starts_with("constraints/floorplan.xdc:"))
                && text.contains("finds nothing named")
                && text.contains("synthesis dissolves u_")
                && text.contains("keep that instance in constraints/hierarchy.xdc")
        });
        assert!(hit, "without {command}: {found:?}");
    }
    assert_eq!(bench.all_constraints(), [""; 0]);
}

#[test]
fn an_instance_that_is_not_kept_has_no_cells_with_names() {
    let bench = Bench::new(&named("tiny"));
    let all = commands(&std::fs::read_to_string(bench.path("constraints/hierarchy.xdc")).unwrap());
    let of = |part: &str| all.iter().find(|command| command.contains(part)).expect(part).clone();
    every_instance_is_needed(&bench, &["{u_front ", "u_front/u_reset/u_asked", "gen_north"].map(of));
    // The way to a cell counts as well as the instance that has it.
    let transport = bench.with(
        "constraints/hierarchy.xdc",
        "u_core/u_fabric/gen_tile[*].u_tile/u_transport ",
        "",
        Bench::all_constraints,
    );
    assert!(
        transport
            .iter()
            .any(|text| text.contains("synthesis dissolves u_core/u_fabric/gen_tile[*].u_tile/u_transport;")),
        "{transport:?}"
    );
    bench.hierarchy();
    // The top is an instance, too, in an IP.
    let top =
        bench.with("meshkv_top.netlist.il", "\nattribute \\keep_hierarchy \"yes\"\n", "\n", Bench::hierarchy);
    assert!(
        top.iter().any(|text| text.contains("module meshkv_top lacks the attribute keep_hierarchy")),
        "{top:?}"
    );
}

#[test]
fn every_instance_that_is_kept_is_one_that_constraints_name() {
    for design in [named("tiny"), named("u280_4x8")] {
        let bench = Bench::new(&design);
        let all = commands(&std::fs::read_to_string(bench.path("constraints/hierarchy.xdc")).unwrap());
        assert!(all.len() > 20, "{all:?}");
        every_instance_is_needed(&bench, &all);
    }
}

#[test]
fn the_floorplan_is_read_before_the_netlist_is_optimised() {
    let files = emit(&named("tiny")).unwrap();
    let text = |path: &str| &files.iter().find(|file| file.path == path).unwrap().text;
    for path in ["scripts/system.tcl", "scripts/Makefile"] {
        let hooks: Vec<_> = text(path).lines().filter(|line| line.contains("floorplan.tcl")).collect();
        assert!(hooks.len() == 1 && hooks[0].contains("STEPS.OPT_DESIGN.TCL.PRE"), "{path}: {hooks:?}");
    }
}

#[test]
fn a_crossing_without_a_constraint_is_found() {
    let bench = Bench::new(&named("tiny"));
    // The write pointers of one kind of FIFO, as their reader sees them.
    let path = bench.path("constraints/crossings.xdc");
    let sound = std::fs::read_to_string(&path).unwrap();
    let touches = |line: &&str| {
        line.starts_with("set_")
            && line.contains("u_jobs/u_write_seen/first_q_reg")
            && !line.contains("ASYNC")
    };
    let without: Vec<_> = sound.lines().filter(|line| !touches(line)).collect();
    std::fs::write(&path, without.join("\n")).unwrap();
    let found = bench.constraints();
    let told = found.iter().filter(|text| text.contains("u_jobs/u_write_seen/first_q_reg")).count();
    assert!(told >= 1, "{found:?}");
    assert!(found.iter().any(|text| text.contains("no constraint ends there")), "{found:?}");
}

#[test]
fn a_slip_in_a_script_or_the_pins_is_named_with_file_and_line() {
    let bench = Bench::new(&named("tiny"));
    let (system, package, pins) = ("scripts/system.tcl", "scripts/package.tcl", "constraints/u280.xdc");
    for (file, from, to, says) in [
        (system, "u_meshkv/ap_clk_2", "u_meshkv/ap_clk_3", "has no pin ap_clk_3"),
        (system, "u_meshkv/s_axi_control]", "u_meshkv/s_axi_ctrl]", "has no interface s_axi_ctrl"),
        (system, "net u_clock_pe/clk_out1 u_meshkv/ap_clk_2", "", "ap_clk_2 is not connected"),
        (system, "connect_bd_intf_net", "connect_bd_intf_nets", "invalid command name"),
        (system, "CONFIG.NUM_CLKS 2", "CONFIG.NUM_CLOCKS 2", "is not known here"),
        (system, "-type rst", "-kind rst", "is no option of create_bd_port"),
        (system, "get_bd_pins u_xdma/axi_aclk", "get_bd_pins u_dma/axi_aclk", "nothing named u_dma was made"),
        (system, "board meshkv_$design_board.v", "board meshkv_u250.v", "there is no file"),
        (package, "{clocks hierarchy crossings}", "{clocks hierarchy crossing}", "there is no file"),
        (package, "ipx::save_core $core\n", "ipx::save_core $cor\n", "no such variable"),
        (package, "-taxonomy /KernelIP", "-taxonomi /KernelIP", "is no option of ipx::package_project"),
        (
            "scripts/floorplan.tcl",
            "ORIG_REF_NAME == $design_top",
            "ORIG_REF_NAME = $design_top",
            "is looked up here with",
        ),
        (
            "scripts/design.tcl",
            "set design_top meshkv_top",
            "set design_top meshkv_topp",
            "found 0 cells of module meshkv_topp",
        ),
        (pins, "[get_ports hbm_cattrip]", "[get_ports hbm_catrip]", "finds nothing named hbm_catrip"),
        (pins, "PACKAGE_PIN BJ44", "PACKAGE_PIN BJ43", "pin BJ43 has sysclk0_p already"),
        (pins, "CFGBVS GND", "CFGBVS GRD", "CFGBVS cannot be"),
        (pins, "set_false_path -to [get_cells irq", "# [get_cells irq", "no constraint ends there"),
    ] {
        let found = bench.with(file, from, to, |bench| [bench.pins(), bench.scripts()].concat());
        let hit = found.iter().any(|text| text.contains(says));
        assert!(hit, "{from} -> {to} in {file}: {found:?}");
    }
    let found = bench.with(system, "-mode Master -vlnv", "-modes Master -vlnv", Bench::scripts);
    assert!(found[0].contains("scripts/system.tcl:") && !found[0].contains(":0:"), "{found:?}");
}

#[test]
fn converters_to_hbm_are_packaged_connected_and_constrained() {
    let mut config = meshkv::config::Config::default();
    (config.mesh.cols, config.mesh.rows, config.noc.flit_width) = (2, 2, 256);
    let bench = Bench::new(&Design::from_config("small", &config).unwrap());
    let all = |bench: &Bench| [bench.constraints(), bench.scripts()].concat();
    assert_eq!(all(&bench), [""; 0]);
    let (system, read) = ("scripts/system.tcl", "constraints/meshkv_axi3_read_crossings.xdc");
    for (file, from, to, says) in [
        (system, "net u_clock_hbm/clk_out1 $name/hbm_aclk", "", "hbm_aclk is not connected"),
        (system, "$name/aresetn", "$name/resetn", "meshkv_axi3_read has no pin resetn"),
        (system, "[get_bd_intf_pins $name/s_axi]", "[get_bd_intf_pins $name/s_axis]", "no interface s_axis"),
        (system, "meshkv_axi3_io}", "meshkv_axi3_inout}", "IP meshkv_axi3_inout is not known here"),
        (read, "u_beats/u_write/gray_q", "u_beats/u_write/grey_q", "finds nothing named"),
    ] {
        let found = bench.with(file, from, to, all);
        assert!(found.iter().any(|text| text.contains(says)), "{from} in {file}: {found:?}");
    }
    let lines: Vec<_> =
        std::fs::read_to_string(bench.path(read)).unwrap().lines().map(str::to_owned).collect();
    let touches = |line: &&String| !line.contains("-to [get_cells {u_asks/u_write_seen/first_q_reg");
    let without: Vec<_> = lines.iter().filter(touches).cloned().collect();
    std::fs::write(bench.path(read), without.join("\n")).unwrap();
    let found = bench.constraints();
    assert!(found.iter().any(|text| text.contains("u_asks/u_write_seen/first_q_reg")), "{found:?}");
}

#[test]
fn what_is_synthesised_on_the_card_is_what_was_estimated() {
    let bench = Bench::new(&named("tiny"));
    let all = |bench: &Bench| [bench.defines(), bench.scripts()].concat();
    assert_eq!(all(&bench), [""; 0]);
    // The packaged sources carry the macro, those that simulators read do not.
    let packaged = std::fs::read_to_string(bench.path("build/defined/meshkv_dsp.v")).unwrap();
    let emitted = std::fs::read_to_string(bench.path("rtl/pad/meshkv_dsp.v")).unwrap();
    assert_eq!(packaged, format!("`ifndef MESHKV_DSP48E2\n`define MESHKV_DSP48E2\n`endif\n{emitted}"));
    assert!(bench.path("build/defined/meshkv_preadd_dsp.v").exists());

    let (design, package, core) = ("scripts/design.tcl", "scripts/package.tcl", "tiny.core");
    let lacks = "MESHKV_DSP48E2 is not defined, which `meshkv estimate` assumes";
    let not_packaged = "is packaged without MESHKV_DSP48E2";
    for (file, from, to, says) in [
        (design, "    MESHKV_DSP48E2\n", "", lacks),
        (design, "    MESHKV_DSP48E2\n", "", not_packaged),
        (design, "    MESHKV_DSP48E2\n", "    MESHKV_DSP48\n", "MESHKV_DSP48 is defined, and not for"),
        (package, "$design_top [meshkv_sources] {}", "$design_top $::design_sources {}", not_packaged),
        (core, "  MESHKV_DSP48E2:\n", "  MESHKV_DSP58:\n", lacks),
        (core, "    default: true\n", "    default: false\n", lacks),
        (
            core,
            "parameters: [MESHKV_DSP48E2]",
            "parameters: []",
            "target card does not pass MESHKV_DSP48E2 on",
        ),
        (core, "\"tool_vivado? (MESHKV_DSP48E2)\"", "", "target default does not pass MESHKV_DSP48E2 on"),
    ] {
        let found = bench.with(file, from, to, all);
        assert!(found.iter().any(|text| text.contains(says)), "{from} -> {to} in {file}: {found:?}");
    }
}

#[test]
fn another_release_or_a_missing_part_is_refused() {
    let bench = Bench::new(&named("tiny"));
    for script in ["kernel", "system"] {
        for release in ["2021.2", "2024.1", "2023.2"] {
            let found = bench.script(script, Installation { release, ..Installation::default() });
            assert!(
                found.len() == 1 && found[0].contains("is not one of 2022.1 to 2023.1"),
                "{release}: {found:?}"
            );
            assert!(found[0].contains("MESHKV_ANY_VIVADO"), "{found:?}");
        }
        for release in ["2022.1", "2022.2", "2023.1"] {
            assert_eq!(bench.script(script, Installation { release, ..Installation::default() }), [""; 0]);
        }
        let found = bench.script(script, Installation { has_part: false, ..Installation::default() });
        assert!(found.len() == 1 && found[0].contains("xcu280-fsvh2892-2L-e is not installed"), "{found:?}");
    }
}

#[test]
fn every_master_of_the_top_has_a_line_in_the_link_configuration() {
    for design in [named("tiny"), named("u280_8x8"), named("u280_16x4")] {
        let files = emit(&design).unwrap();
        let link = &files.iter().find(|f| f.path == "scripts/link.cfg").unwrap().text;
        let top = modules(&design).into_iter().find(|m| m.name == TOP).unwrap();
        let masters = top
            .ports
            .iter()
            .filter_map(|p| p.name.strip_suffix("_arvalid"))
            .filter(|p| p.starts_with("m_axi"));
        let mut lines = 0;
        for master in masters {
            assert!(link.contains(&format!("sp=meshkv_1.{master}:")), "{master}");
            lines += 1;
        }
        assert_eq!(link.lines().filter(|line| line.starts_with("sp=")).count(), lines);
    }
}

#[test]
fn the_same_constraints_come_out_for_the_same_design() {
    let of = |design: &Design| -> Vec<SourceFile> {
        emit(design).unwrap().into_iter().filter(|f| f.path.starts_with("constraints/")).collect()
    };
    let design = design(3, 3, |_| {});
    assert_eq!(of(&design), of(&design));
    assert_eq!(of(&design).len(), 5);
}
