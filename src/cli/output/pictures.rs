//! The folder of `--plot`: checked before the first cycle, filled after the last.

use crate::cli::output::ui::Ui;
use crate::eval;
use crate::eval::report::{run_page, RunPage};
use crate::tools::whole_file;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder for pictures. It is removed if nothing was written into it.
pub(in crate::cli) struct Pictures {
    dir: PathBuf,
    /// Folders this run made, outermost first.
    made: Vec<PathBuf>,
}

impl Pictures {
    /// Makes the folder and checks that it can be written.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub(in crate::cli) fn open(dir: &Path) -> anyhow::Result<Pictures> {
        let missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.exists();
        let mut made: Vec<_> = dir.ancestors().take_while(missing).map(PathBuf::from).collect();
        made.reverse();
        // Set before the folders are made: if one fails, those already made are removed.
        let pictures = Pictures { dir: dir.to_owned(), made };
        fs::create_dir_all(dir).with_context(|| {
            format!("cannot make the folder {} for the pictures of --plot", dir.display())
        })?;
        whole_file::check(&dir.join("link-utilisation.svg"))
            .context("--plot needs a folder that can be written")?;
        Ok(pictures)
    }

    /// Writes the pictures of a run, and the page that holds them.
    ///
    /// # Errors
    /// When one cannot be drawn or written.
    pub(in crate::cli) fn write_page(&self, page: &RunPage, ui: &Ui) -> anyhow::Result<()> {
        let html = run_page(page).context("cannot write the page of the run")?;
        let svgs: Vec<_> =
            page.figures.iter().map(|figure| (figure.name.as_str(), figure.svg.clone())).collect();
        self.write(&svgs, ui)?;
        let path = self.dir.join("report.html");
        whole_file::write(&path, html.as_bytes(), true)?;
        ui.note(format_args!("wrote {}", path.display()));
        Ok(())
    }

    /// Writes pictures, each as SVG and as PNG: all are drawn before the first is written.
    ///
    /// # Errors
    /// When one cannot be drawn or written.
    pub(in crate::cli) fn write(&self, pictures: &[(&str, String)], ui: &Ui) -> anyhow::Result<()> {
        let drawn: Vec<_> = pictures
            .iter()
            .map(|(name, svg)| Ok((name, svg, eval::svg_to_png(svg)?)))
            .collect::<anyhow::Result<_>>()?;
        for (name, svg, png) in &drawn {
            for (extension, bytes) in [("svg", svg.as_bytes()), ("png", png)] {
                let path = self.dir.join(format!("{name}.{extension}"));
                whole_file::write(&path, bytes, true)?;
                ui.note(format_args!("wrote {}", path.display()));
            }
        }
        Ok(())
    }
}

impl Drop for Pictures {
    fn drop(&mut self) {
        // Removing a folder that is not empty fails, and the folder stays.
        for dir in self.made.iter().rev() {
            let _ = fs::remove_dir(dir);
        }
    }
}
