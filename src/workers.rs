//! Independent pieces of work on several threads, and their outcomes on one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// As many as there are cores.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does all of `pieces`, `jobs` at once, and hands each outcome with its piece to `receive` as it comes.
///
/// # Errors
/// The first of `receive`: no further piece is begun then, and of those under way the outcomes are still received.
pub(crate) fn work<'p, P: Sync, O: Send>(
    pieces: &'p [P],
    jobs: usize,
    run: &(dyn Fn(&'p P) -> O + Sync),
    receive: &mut dyn FnMut(&'p P, O) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (send, outcomes) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(pieces.len()) {
            let (send, next, stop) = (send.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    // Nobody listens only when the receiver has panicked.
                    if send.send((piece, run(piece))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let mut result = Ok(());
        for (piece, outcome) in outcomes {
            let received = receive(piece, outcome);
            if received.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            // What others do wrong after the first is its consequence.
            result = result.and(received);
        }
        result
    })
}
