//! A part that serves slices: a memory port, a home, a link, a tile, an array, a root.

/// A server, with its time in periods. Work takes the first free time from its start on, also between works
/// that came before, as flits of several slices do on a link.
#[derive(Debug, Clone)]
pub(super) struct Server {
    /// Length of a period in cycles.
    period: f64,
    /// Cycles in use of each period.
    used: Vec<f64>,
    /// The first period with free time.
    first: usize,
}

/// Cycles that count as none.
const NONE: f64 = 1e-9;

impl Server {
    pub(super) fn new(period: f64) -> Server {
        Server { period, used: Vec::new(), first: 0 }
    }

    /// Works for so many cycles, from `start` on at the earliest. Returns the time of its end.
    pub(super) fn serve(&mut self, start: f64, cycles: f64) -> f64 {
        let mut at = ((start / self.period) as usize).max(self.first);
        let (mut now, mut left) = (start.max(at as f64 * self.period), cycles);
        loop {
            if at >= self.used.len() {
                self.used.resize(at + 1, 0.0);
            }
            let begin = at as f64 * self.period;
            let free = (self.period - self.used[at]).min(begin + self.period - now).max(0.0);
            let done = free.min(left);
            self.used[at] += done;
            left -= done;
            if left <= NONE {
                return (now + done).max(begin + self.used[at]);
            }
            while self.used.get(self.first).is_some_and(|used| *used >= self.period - NONE) {
                self.first += 1;
            }
            at = (at + 1).max(self.first);
            now = at as f64 * self.period;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::design::time::forecast::server::*;

    #[test]
    fn works_follow_each_other() {
        let mut server = Server::new(100.0);
        assert_eq!([server.serve(0.0, 250.0), server.serve(0.0, 100.0)], [250.0, 350.0]);
        assert_eq!(server.serve(1000.0, 10.0), 1010.0);
    }

    #[test]
    fn a_later_work_takes_time_that_is_free_before_an_earlier_one() {
        let mut server = Server::new(100.0);
        assert_eq!(server.serve(500.0, 200.0), 700.0);
        assert_eq!(server.serve(0.0, 300.0), 300.0);
        assert_eq!(server.serve(0.0, 300.0), 800.0, "two periods before the first work, one after it");
    }
}
