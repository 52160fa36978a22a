//! Columns of the area, which `meshkv sweep --estimate` adds to rows of any kind.

use super::column::{column, Column, Metric, Role};
use crate::config::Kind::{Bool, Integer, Number, Text};

/// Start of the place of each in what is stored of a configuration.
pub(super) const PREFIX: &str = "/area/";

const AREA: &[Metric] = &[
    (
        "fits",
        "/area/fits",
        Bool,
        "",
        "no SLR lacks a resource and no boundary has too many wires, within 80 %",
    ),
    (
        "fullest",
        "/area/fullest",
        Number,
        "of an SLR",
        "share of the fullest resource of an SLR, or of the fullest boundary",
    ),
    ("fullest_of", "/area/fullest_of", Text, "", "name and place of what is fullest"),
    ("lut", "/area/lut", Integer, "LUT", "LUTs of the design, by synthesis"),
    ("ff", "/area/ff", Integer, "FF", "registers"),
    ("bram36", "/area/bram36", Integer, "BRAM36", "block RAMs"),
    ("uram", "/area/uram", Integer, "URAM288", "UltraRAMs"),
    ("dsp", "/area/dsp", Integer, "DSP48E2", "DSP slices"),
    ("sll", "/area/sll", Integer, "wires", "wires across the fullest boundary between SLRs"),
    (
        "noc_ns",
        "/area/noc_ns",
        Number,
        "ns",
        "period of the network's clock, by static analysis without routing",
    ),
    ("pe_ns", "/area/pe_ns", Number, "ns", "period of the arrays' clock, by the same"),
    ("clocks_met", "/area/clocks_met", Bool, "", "both are no longer than the configuration asks for"),
    ("yosys", "/area/yosys", Text, "", "version of the Yosys of the estimate"),
];

/// The columns of the area.
pub fn area_columns() -> Vec<Column> {
    AREA.iter().map(|metric| column(metric, "")).collect()
}

/// Columns of rows with those of the area, before the hash of the configuration.
pub fn with_area(mut columns: Vec<Column>) -> Vec<Column> {
    let at = columns.iter().rposition(|column| column.role == Role::Metric).map_or(0, |last| last + 1);
    columns.splice(at..at, area_columns());
    columns
}

/// True if the column is one of them.
pub(super) fn is_area(column: &Column) -> bool {
    AREA.iter().any(|(name, ..)| *name == column.name && column.role == Role::Metric)
}
