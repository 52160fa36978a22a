//! The grid of points of a sweep file, with a row of plain figures for each point.
//!
//! ```text
//! config::Grid -- expand --> Point --+--> a run --> values --> Record -- rows, Parquet
//!                                    +--> id, labels ------------^
//! ```
//!
//! Nothing here runs a fabric or knows where rows are kept.

mod area;
mod column;
mod expand;
mod parquet;
mod point;
mod record;
mod schema;

pub use area::{area_columns, with_area};
pub use column::{columns, columns_of, metric_columns, text_label, Column, Role};
pub use expand::{expand, outline, Expanded, Outline};
pub use parquet::{to_parquet, ParquetError};
pub use point::{Point, Work, ROW_FORMAT};
pub use record::{csv_head, csv_line, parse_line, parse_line_of, Record};
pub use schema::row_schema;
