//! A pool of pages: which are free, and how many hold each.

use std::collections::VecDeque;

/// Pages of a common pool. A page's colour is its number, modulo the homes of a round.
#[derive(Debug, Clone)]
pub struct Pool {
    /// Free pages of each colour.
    free: Vec<VecDeque<u32>>,
    /// Holders of each page.
    holders: Vec<u32>,
    taken: u32,
}

impl Pool {
    /// So many free pages of `round` colours.
    ///
    /// # Panics
    /// If there is no colour.
    pub fn new(count: u32, round: u32) -> Pool {
        assert!(round > 0, "a page has a colour");
        let of = |colour: u32| (colour..count).step_by(round as usize).collect();
        Pool { free: (0..round).map(of).collect(), holders: vec![0; count as usize], taken: 0 }
    }

    /// Pages that somebody holds.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// Pages that nobody holds.
    pub fn free(&self) -> u32 {
        self.holders.len() as u32 - self.taken
    }

    /// Takes a page of a colour (modulo their number) or, where none is free, of the next that has one; none if all are
    /// taken.
    pub fn take(&mut self, colour: u64) -> Option<u32> {
        let colours = self.free.len();
        let first = (colour % colours as u64) as usize;
        let page = (0..colours).find_map(|ahead| self.free[(first + ahead) % colours].pop_front())?;
        self.holders[page as usize] = 1;
        self.taken += 1;
        Some(page)
    }

    /// Another holds a page that is taken.
    ///
    /// # Panics
    /// If nobody holds it.
    pub fn share(&mut self, page: u32) {
        assert!(self.holders[page as usize] > 0, "page {page} is free");
        self.holders[page as usize] += 1;
    }

    /// One holds it no longer: it is free if that was the last.
    ///
    /// # Panics
    /// If nobody holds it.
    pub fn release(&mut self, page: u32) {
        let holders = &mut self.holders[page as usize];
        assert!(*holders > 0, "page {page} is free");
        *holders -= 1;
        if *holders == 0 {
            let colour = page as usize % self.free.len();
            self.free[colour].push_back(page);
            self.taken -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_colour_while_there_is_one() {
        let mut pool = Pool::new(7, 3);
        assert_eq!([5, 2, 2, 2].map(|colour| pool.take(colour)), [Some(2), Some(5), Some(0), Some(3)]);
        assert_eq!((pool.taken(), pool.free()), (4, 3));
        assert_eq!([1, 1, 1, 1].map(|colour| pool.take(colour)), [Some(1), Some(4), Some(6), None]);
    }

    #[test]
    fn a_page_is_free_when_its_last_holder_leaves() {
        let mut pool = Pool::new(2, 1);
        let page = pool.take(0).unwrap();
        pool.share(page);
        pool.release(page);
        assert_eq!(pool.free(), 1);
        pool.release(page);
        assert_eq!(pool.free(), 2);
        assert!(std::panic::catch_unwind(move || pool.release(page)).is_err());
    }
}
