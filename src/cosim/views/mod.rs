//! Views of a wave file: the signals of a flit's way, grouped, named and translated, for GTKWave
//! and for Surfer.
//!
//! The names are those of the file itself, which is read back. So a view never names a signal that
//! the file lacks, whatever was verilated and however deep it was traced.

mod file;
mod groups;
mod gtkwave;
mod hierarchy;
mod meaning;
mod module;
mod surfer;
mod way;

pub use file::ViewFile;
pub use groups::{groups, Group, Line};
pub use hierarchy::{read, Hierarchy, Signal, ViewError};
pub use meaning::{Meaning, States, STATES};
pub use module::module_views;
pub use way::Focus;

use crate::design::Design;
use file::Source;
use std::path::Path;

/// The files of the views of `waves`, the first for GTKWave and the second for Surfer; then the
/// tables of values that both name.
///
/// # Errors
/// If `waves` is no whole FST file.
pub fn views(waves: &Path, design: &Design, focus: Focus) -> Result<Vec<ViewFile>, ViewError> {
    let hierarchy = read(waves)?;
    let groups = groups(&hierarchy, design, focus);
    let source = Source::of(design);
    let mut files = gtkwave::files(waves, &hierarchy, &groups, &source);
    let others = surfer::files(waves, &groups, &source);
    files.splice(1..1, others);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn both_viewers_are_told_the_same_signals_with_their_names_and_meanings() {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (2, 2);
        let design = Design::from_config("small", &config).unwrap();
        let mut file = Hierarchy::default();
        (file.times, file.exponent) = ((5, 9), -9);
        let router = "TOP.meshkv_mesh.gen_row[0].gen_col[0].u_router";
        file.add(router, "rx_l_valid [3:0]", 4);
        file.add("TOP.meshkv_mesh", "clk", 1);
        let (waves, groups) = (Path::new("a/run.fst"), groups(&file, &design, Focus::Corners));
        let source = Source::of(&design);
        let gtkwave = gtkwave::files(waves, &file, &groups, &source);
        let surfer = surfer::files(waves, &groups, &source);
        let names =
            |files: &[ViewFile]| -> Vec<_> { files.iter().map(|f| f.0.display().to_string()).collect() };
        assert_eq!(names(&gtkwave), ["a/run.gtkw", "a/run.gtkw.values/class-4.txt"]);
        assert_eq!(names(&surfer), ["a/run.sucl", "a/.surfer/mappings/run-class-4.txt"]);
        let group = "@800200\n-hop 1: router (0, 0), from its tile to east\n@2022\n\
                     ^1 run.gtkw.values/class-4.txt\n+{in: class} TOP.meshkv_mesh.gen_row[0].gen_col[0].u_router\
                     .rx_l_valid[3:0]\n@1000200\n-hop 1: router (0, 0), from its tile to east\n";
        assert!(gtkwave[0].1.contains(group), "{}", gtkwave[0].1);
        assert!(gtkwave[0].1.contains("\n@28\n+{clock} TOP.meshkv_mesh.clk\n"), "{}", gtkwave[0].1);
        assert!(gtkwave[0].1.contains("[timestart] 5\n[size] 1600 900\n"), "{}", gtkwave[0].1);
        assert!(
            surfer[0].1.ends_with(
                "divider_add hop_1_router_0_0_from_its_tile_to_east\n\
             variable_add TOP.meshkv_mesh.gen_row[0].gen_col[0].u_router.rx_l_valid\n\
             item_focus d_TOP.meshkv_mesh.gen_row[0].gen_col[0].u_router.rx_l_valid\n\
             item_set_format run-class-4\nitem_unfocus\nzoom_fit\n"
            ),
            "{}",
            surfer[0].1
        );
        assert!(surfer[1].1.starts_with("Name = run-class-4\nBits = 4\n0x0 -\n0x1 PART"), "{}", surfer[1].1);
    }
}
