//! Constraints name what is in the netlist, as often as they say; slips are found and named.

mod fabric;

use fabric::design;
use meshkv::cli::interrupt::Interrupt;
use meshkv::cli::lint::passes::{lay_out, Linters};
use meshkv::cli::lint::vivado;
use meshkv::design::Design;
use meshkv::emit::{emit, SourceFile, TOP};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A design laid out with its netlist, for constraints to be run on.
struct Bench {
    linters: Linters,
    dir: TempDir,
}

impl Bench {
    fn new(design: &Design) -> Bench {
        let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
        let dir = tempfile::tempdir().unwrap();
        let sources = lay_out(&emit(design).unwrap(), dir.path()).unwrap();
        for pass in linters.passes(&sources, TOP).iter().filter(|pass| pass.tool.name == "yosys") {
            let found = pass.run(dir.path(), &Interrupt::default()).unwrap();
            assert!(found.is_empty(), "{found:?}");
        }
        Bench { linters, dir }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    fn constraints(&self) -> Vec<String> {
        let found = vivado::constraints(&self.linters.tclsh, self.dir.path(), TOP, &Interrupt::default());
        found.unwrap().into_iter().map(|m| m.text).collect()
    }

    /// What is found when the first `from` of a file is `to`.
    fn with(&self, file: &str, from: &str, to: &str, run: impl Fn(&Bench) -> Vec<String>) -> Vec<String> {
        let path = self.path(file);
        let sound = std::fs::read_to_string(&path).unwrap();
        assert!(sound.contains(from), "{file} has no {from}");
        std::fs::write(&path, sound.replacen(from, to, 1)).unwrap();
        let found = run(self);
        std::fs::write(&path, sound).unwrap();
        found
    }
}

fn named(name: &str) -> Design {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
    Design::load(&path).unwrap().0
}

#[test]
fn constraints_of_every_shape_find_what_they_name() {
    let shapes =
        [design(2, 2, |_| {}), named("tiny"), named("mesh_4x4"), named("u280_8x8"), named("u280_16x4")];
    for design in &shapes {
        let found = Bench::new(design).constraints();
        assert_eq!(found, [""; 0], "{}x{}", design.mesh.cols(), design.mesh.rows());
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
        (crossings, "set_bus_skew", "set_bus_skews", "is not valid in an XDC file"),
        (crossings, "$net_clock -to", "$no_clock -to", "no such variable"),
        (crossings, "[get_ports", "[get_port", "is not valid in an XDC file"),
        (crossings, "]] -to", "] -to", "that opens here is not closed"),
        (crossings, "-min PERIOD $net_clock", "-min PERIOD {}", "is a property of a clock"),
        (floorplan, "CLOCKREGION_X3Y7", "CLOCKREGION_X8Y7", "are no clock regions of the U280"),
        (floorplan, "gen_col[0].u_router", "gen_col[9].u_router", "finds nothing named"),
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
fn the_same_constraints_come_out_for_the_same_design() {
    let of = |design: &Design| -> Vec<SourceFile> {
        emit(design).unwrap().into_iter().filter(|f| f.path.starts_with("constraints/")).collect()
    };
    let design = design(3, 3, |_| {});
    assert_eq!(of(&design), of(&design));
    assert_eq!(of(&design).len(), 5);
}
