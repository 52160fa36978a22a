//! `--vectors`: a run as files for `bench/tb.v`.

use crate::cli::output::ui::Ui;
use crate::cosim::workloads::attention::Job;
use crate::cosim::workloads::device::Vectors;
use crate::tools::whole_file;
use anyhow::Context as _;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages of memory for which the bench has room by itself.
const PAGES: usize = 4096;

/// The folder of `--vectors`: made and checked before the first cycle.
pub(super) struct Folder {
    dir: PathBuf,
}

impl Folder {
    /// Makes the folder and checks that it can be written.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub(super) fn open(dir: &Path) -> anyhow::Result<Folder> {
        fs::create_dir_all(dir).with_context(|| {
            format!("cannot make the folder {} for the files of --vectors", dir.display())
        })?;
        whole_file::check(&dir.join("memory.hex")).context("--vectors needs a folder that can be written")?;
        Ok(Folder { dir: dir.to_owned() })
    }

    /// Writes a job and its outputs.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(super) fn write(
        &self,
        job: &Job,
        outputs: &BTreeMap<(u32, u32), Vec<u16>>,
        ui: &Ui,
    ) -> anyhow::Result<()> {
        let vectors = Vectors::of(job, &job.descriptors()?, outputs);
        for (name, text) in vectors.files() {
            whole_file::write(&self.dir.join(name), text.as_bytes(), true)?;
        }
        let pages = vectors.pages();
        let more = if pages > PAGES { format!(" and parameter PAGES={pages}") } else { String::new() };
        ui.note(format_args!("wrote {}: run bench/tb.v with +vectors={0}{more}", self.dir.display()));
        Ok(())
    }
}
