//! One measured figure, its spread over seeds, and the table of all.

/// Whether a figure is what it should be.
#[derive(Debug, Clone, PartialEq)]
pub enum Goal {
    /// Reached or not, and what was asked for.
    Met(bool, String),
    /// Nothing was asked but to state it.
    Stated,
}

impl Goal {
    /// Whether it is reached; `None` where nothing was asked.
    pub fn met(&self) -> Option<bool> {
        match self {
            Goal::Met(met, _) => Some(*met),
            Goal::Stated => None,
        }
    }
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was measured.
    pub what: String,
    /// Value with its unit, and its interval where it is random.
    pub value: String,
    /// What it should be.
    pub goal: Goal,
    /// The command that measures it again.
    pub command: String,
}

/// Mean of some seeds and half of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Half the width of the 95 % interval, after Student.
    pub half: f64,
}

impl Spread {
    /// Of at least two values.
    pub fn of(values: &[f64]) -> Spread {
        // Student's t for 95 %, two sides, by degrees of freedom; beyond the table it is nearly normal.
        const T: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let t = T.get(values.len().saturating_sub(2)).copied().unwrap_or(2.0);
        Spread { mean, half: t * (variance / n).sqrt() }
    }

    /// With so many decimals.
    pub fn show(self, decimals: usize) -> String {
        format!("{:.decimals$} ± {:.decimals$}", self.mean, self.half)
    }
}

/// All figures as a Markdown table.
pub fn table(figures: &[Figure]) -> String {
    let mut text = "| what | measured | goal | | command |\n|---|---|---|---|---|\n".to_owned();
    for figure in figures {
        let (goal, verdict) = match &figure.goal {
            Goal::Met(met, goal) => (goal.as_str(), if *met { "met" } else { "missed" }),
            Goal::Stated => ("stated", ""),
        };
        text +=
            &format!("| {} | {} | {goal} | {verdict} | `{}` |\n", figure.what, figure.value, figure.command);
    }
    text
}
