//! Progress of long work: a bar on a terminal, a line now and then elsewhere.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work shorter than this shows no bar: one that flashes by is only noise.
const BAR_AFTER: Duration = Duration::from_secs(2);

/// Time between two lines where there is no terminal: often enough for a job that is killed after ten silent minutes,
/// and seldom enough for its log.
pub(in crate::cli) const EVERY: Duration = Duration::from_secs(60);

/// Place of progress.
pub(in crate::cli) enum Shown {
    /// Nothing is shown.
    Nowhere,
    /// A bar on standard error.
    OnTerminal,
    /// A line by this function, so often.
    AsLines(Duration, Box<dyn Fn(String) + Send>),
}

fn progress_style(known_length: bool) -> ProgressStyle {
    let template = if known_length {
        "{msg} [{bar:30}] {percent:>3} % {elapsed} (left: {eta})"
    } else {
        "{spinner} {msg} {elapsed}"
    };
    // A wrong template would only change the look of the bar.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

/// Progress of one long piece of work.
pub struct Progress {
    bar: ProgressBar,
    reveal: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to show the progress of `what` over `len` steps, or of unknown length.
    pub(in crate::cli) fn start(len: Option<u64>, what: &str, shown: Shown) -> Progress {
        let bar = ProgressBar::with_draw_target(len, ProgressDrawTarget::hidden());
        bar.set_style(progress_style(len.is_some()));
        bar.set_message(what.to_owned());
        let (done, waits) = mpsc::channel::<()>();
        let at = bar.clone();
        let thread = match shown {
            Shown::Nowhere => return Progress { bar, reveal: None },
            Shown::OnTerminal => std::thread::spawn(move || {
                if waits.recv_timeout(BAR_AFTER) == Err(RecvTimeoutError::Timeout) {
                    at.set_draw_target(ProgressDrawTarget::stderr());
                    at.enable_steady_tick(Duration::from_millis(100));
                }
            }),
            Shown::AsLines(every, say) => std::thread::spawn(move || {
                while waits.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                    say(line(&at));
                }
            }),
        };
        Progress { bar, reveal: Some((done, thread)) }
    }

    /// Sets the steps done so far.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Shows the present step.
    pub fn message(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// Hides the bar while `say` prints: a line written into the bar would be torn.
    pub fn aside(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.reveal.take() {
            // The thread is stopped before the bar is cleared, or it could draw it again.
            drop(done);
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// A line on the state of the work.
fn line(bar: &ProgressBar) -> String {
    let elapsed = bar.elapsed();
    match bar.length() {
        Some(len) if bar.position() > 0 => {
            let percent = 100 * bar.position() / len.max(1);
            let left = HumanDuration(time_left(elapsed, bar.position(), len));
            format!("{}: {percent} % after {}, about {left} left", bar.message(), HumanDuration(elapsed))
        }
        _ => format!("{}: at work for {}", bar.message(), HumanDuration(elapsed)),
    }
}

/// Time that the rest takes at the rate of all that is done. The bar's own estimate is of its last seconds, and says
/// centuries where a step takes minutes.
fn time_left(elapsed: Duration, done: u64, all: u64) -> Duration {
    elapsed.mul_f64(all.saturating_sub(done) as f64 / done.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use crate::cli::output::progress::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn long_steps_leave_the_time_of_the_steps_before() {
        assert_eq!(time_left(Duration::from_secs(600), 2, 8), Duration::from_secs(1800));
        assert_eq!(time_left(Duration::from_secs(600), 8, 8), Duration::ZERO);
    }

    #[test]
    fn work_without_a_terminal_says_lines_until_it_ends() {
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let said = Arc::clone(&heard);
        let say = Box::new(move |line| said.lock().unwrap().push(line));
        let progress = Progress::start(Some(4), "sweeping", Shown::AsLines(Duration::from_millis(5), say));
        let lines = || heard.lock().unwrap().len();
        while lines() < 1 {
            std::thread::yield_now();
        }
        progress.set(3);
        let before = lines();
        while lines() < before + 2 {
            std::thread::yield_now();
        }
        drop(progress);
        let ended = lines();
        std::thread::sleep(Duration::from_millis(20));
        let all = heard.lock().unwrap().clone();
        assert_eq!(all.len(), ended);
        assert!(all[0].starts_with("sweeping: at work for "), "{all:?}");
        assert!(all.last().unwrap().starts_with("sweeping: 75 % after "), "{all:?}");
    }
}
