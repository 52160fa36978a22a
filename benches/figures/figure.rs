//! One measured figure, its spread over seeds, and the table of all.

/// Goal of a figure, and whether the figure reaches it.
#[derive(Debug, Clone, PartialEq)]
pub enum Goal {
    /// Reached or not, and the goal.
    Met(bool, String),
    /// No goal.
    Stated,
}

impl Goal {
    /// True if the goal is reached; `None` without a goal.
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
    /// Name of the measured value.
    pub what: String,
    /// Value with its unit, and its interval where it is random.
    pub value: String,
    /// Goal.
    pub goal: Goal,
    /// The command that measures it again.
    pub command: String,
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
