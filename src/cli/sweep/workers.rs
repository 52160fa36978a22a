//! Points on several threads, and their outcomes on one.

use super::execute::{Execute, Outcome};
use crate::eval::grid::Point;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Runs all points, so many at once, and hands each outcome to `receive` as it comes.
///
/// # Errors
/// The first of `receive`: no further point is begun then, and of those under way the outcomes are still received.
pub(super) fn work(
    points: &[&Point],
    jobs: usize,
    execute: &Execute<'_>,
    receive: &mut dyn FnMut(&Point, Outcome) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (send, outcomes) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(points.len()) {
            let (send, next, stop) = (send.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    // Nobody listens only when the receiver has panicked.
                    if send.send((*point, execute.run(point))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let mut result = Ok(());
        for (point, outcome) in outcomes {
            let received = receive(point, outcome);
            if received.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            // What others do wrong after the first is its consequence.
            result = result.and(received);
        }
        result
    })
}
