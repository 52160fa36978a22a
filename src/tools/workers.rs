//! Runs independent pieces of work on several threads, and collects their outcomes on one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Number of cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Works on all `pieces`, `jobs` at once, and passes each outcome with its piece to `receive` as it arrives.
///
/// # Errors
/// The first error of `receive`: then no further piece starts, and outcomes of those in progress are still
/// received.
pub fn work<'p, P: Sync, O: Send>(
    pieces: &'p [P],
    jobs: usize,
    run: &(dyn Fn(&'p P) -> O + Sync),
    receive: &mut dyn FnMut(&'p P, O) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    // Bounded: a receiver that is slower than the workers holds them up, instead of a queue that outlives an end.
    let (send, outcomes) = mpsc::sync_channel(jobs);
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(pieces.len()) {
            let (send, next, stop) = (send.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    // Sending fails only when the receiver has panicked.
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
            // Later errors are consequences of the first.
            result = result.and(received);
        }
        result
    })
}
