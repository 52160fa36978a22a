//! The command that repeats a row, made from the options.

use crate::cli::simulate::cosim::args::Options;
use crate::cosim::traffic::generator::Shape;
use crate::cosim::traffic::pattern::PatternKind;

impl Options {
    /// The command with all options that affect its figures, defaults included.
    pub(super) fn command(&self) -> String {
        if let Some(trace) = &self.trace {
            let rate = self.trace_rate.map(|rate| format!(" --trace-rate {rate}"));
            let words = format!("{} --trace {}{}", self.begin(), trace.display(), rate.unwrap_or_default());
            return words + &self.end();
        }
        let load = match self.sweep_load {
            Some((from, to)) => {
                let limit = self.latency_limit.map(|limit| format!(" --latency-limit {limit}"));
                format!("--sweep-load {from}:{to}{}", limit.unwrap_or_default())
            }
            None => format!("--load {}", self.load),
        };
        self.with_load(&load)
    }

    /// The command of one point of a sweep.
    pub(super) fn command_at(&self, load: Option<f64>) -> String {
        self.with_load(&format!("--load {}", load.unwrap_or(self.load)))
    }

    fn with_load(&self, load: &str) -> String {
        let traffic = self.traffic();
        let mut words = vec![
            match &self.matrix {
                Some(matrix) => format!("{} --matrix {}", self.begin(), matrix.display()),
                None => format!("{} --traffic {}", self.begin(), traffic.shape.name()),
            },
            load.to_owned(),
            format!("--packet {}", self.packet),
        ];
        match &traffic.shape {
            Shape::Unicast { pattern, hotspots, vn } => {
                if *pattern == PatternKind::Hotspot {
                    words.extend(hotspots.iter().map(|h| format!("--hotspot {},{}:{}", h.x, h.y, h.share)));
                }
                words.push(format!("--vn {}", vn.name()));
            }
            Shape::Matrix { vn, .. } => words.push(format!("--vn {}", vn.name())),
            Shape::Multicast { .. } | Shape::Mixed { .. } => {
                words.extend(self.fanout.map(|fanout| format!("--fanout {fanout}")));
            }
        }
        words.push(format!("--cycles {} --warmup {} --seed {}", self.cycles, self.warmup, self.seed));
        words.extend(self.drain_limit.map(|limit| format!("--drain-limit {limit}")));
        words.join(" ") + &self.end()
    }

    /// The command up to the configuration.
    fn begin(&self) -> String {
        let subcommand = if self.carrier.is_model() { "sim" } else { "cosim" };
        format!("meshkv {subcommand} {}", self.config().display())
    }

    /// End of the command.
    fn end(&self) -> String {
        let dut = self.form().map_or(String::new(), |form| format!(" --dut {}", form.name()));
        format!("{dut}{}", self.carrier.words_of_lockstep())
    }
}
