//! The folder of `meshkv paper`.
//!
//! | file | content |
//! |---|---|
//! | `index.html` | the page, which needs no other file |
//! | `claims.json` | every claim with its verdict and its readings |
//! | `claims.md` | the same in words, with the figures |
//! | `<table>.csv` | a table |
//! | `<figure>.svg`, `<figure>.png` | a figure |
//! | `fabrics/` | configurations that are no file of the repository |
//! | `rows/` | all rows, as a sweep keeps them |

use crate::cli::output::provenance::Provenance;
use crate::eval::paper::markdown;
use crate::eval::paper::{fabrics, Claim, Drawn, Head, Table};
use crate::eval::svg_to_png;
use crate::tools::whole_file;
use anyhow::Context;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that is there.
pub(super) struct Output(PathBuf);

impl Output {
    /// Makes the folder.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub(super) fn open(dir: &Path) -> anyhow::Result<Output> {
        fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
        whole_file::check(&dir.join("index.html")).context("-o needs a folder that can be written")?;
        Ok(Output(dir.to_owned()))
    }

    /// The folder of the rows.
    pub(super) fn rows(&self) -> PathBuf {
        self.0.join("rows")
    }

    /// Writes everything but the rows; returns the page's path.
    ///
    /// # Errors
    /// When a picture cannot be drawn, or a file not written.
    pub(super) fn write(
        &self,
        html: &str,
        claims: &[Claim],
        drawn: &[Drawn],
        tables: &[Table],
        (head, meshkv, configs): (&Head, &Provenance, &BTreeSet<(String, String)>),
    ) -> anyhow::Result<PathBuf> {
        let write = |name: String, bytes: &[u8]| whole_file::write(&self.0.join(name), bytes, true);
        for figure in drawn {
            write(format!("{}.svg", figure.name), figure.svg.as_bytes())?;
            write(format!("{}.png", figure.name), &svg_to_png(&figure.svg)?)?;
        }
        for table in tables {
            write(format!("{}.csv", table.name), table.to_csv().as_bytes())?;
        }
        fs::create_dir_all(self.0.join("fabrics"))?;
        for (name, config) in fabrics() {
            write(format!("fabrics/{name}.toml"), toml::to_string(&config)?.as_bytes())?;
        }
        let all: Vec<_> = claims.iter().map(Claim::to_json).collect();
        // Rows are of many configurations, some of which differ in their limits alone.
        let configs: Vec<_> = configs
            .iter()
            .map(|(config, config_sha256)| json!({ "config": config, "config_sha256": config_sha256 }))
            .collect();
        let value = json!({
            "meshkv": meshkv, "configs": configs, "command": head.command, "extent": head.extent, "rows": head.rows,
            "points": head.points, "sampling": head.sampling, "claims": all,
        });
        write("claims.json".to_owned(), format!("{}\n", serde_json::to_string_pretty(&value)?).as_bytes())?;
        write("claims.md".to_owned(), markdown(head, claims, drawn, tables, "").as_bytes())?;
        write("index.html".to_owned(), html.as_bytes())?;
        Ok(self.0.join("index.html"))
    }
}
