//! Continuous batching: requests join and leave the batch between two steps, as pages allow.

use super::pool::Pool;
use super::request::{Prefix, Request};
use crate::design::Design;
use std::collections::{BTreeMap, VecDeque};

/// Of the pages that are free, one of so many stays so when a request is let in: streams that run need pages soon.
const RESERVE: u32 = 100;

/// What a fabric can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Tokens of a page.
    pub page_tokens: u32,
    /// Pages of the pool.
    pub pages: u32,
    /// Colours of pages: homes of a round.
    pub round: u32,
    /// Each cache begins a home further than the one before.
    pub turns: bool,
    /// Caches that the table has room for.
    pub caches: u32,
    /// Tokens of the longest cache.
    pub tokens: u32,
}

/// A request in the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Number of the request.
    pub request: usize,
    /// Number of its cache.
    pub cache: u32,
    /// Tokens in its cache before the step.
    pub tokens: u32,
    /// Its pages, those of the prefix first; there is room for the token of the step.
    pub pages: Vec<u32>,
    /// Tokens in whole pages that it has in common with all of its prefix.
    pub common: u32,
    /// Number of the prefix.
    pub prefix: Option<usize>,
    /// Tokens that it has still to decode.
    left: u32,
}

/// What has happened so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that have all their tokens.
    pub finished: usize,
    /// Tokens that were decoded.
    pub decoded: u64,
    /// Pages that were copied: the last page of a prefix that does not fill it.
    pub copied: u64,
    /// Requests that lost their pages to others, and waited again.
    pub preempted: u64,
    /// Tokens of them, which a prompt had to bring again.
    pub again: u64,
}

/// A request that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    request: usize,
    /// Tokens that its cache begins with, and those to decode.
    tokens: u32,
    left: u32,
}

/// Pages of a prefix, which stay while there is room.
#[derive(Debug)]
struct Kept {
    tokens: u32,
    pages: Vec<u32>,
}

/// The batch of each step.
#[derive(Debug)]
pub struct Batching<'a> {
    rules: Rules,
    requests: &'a [Request],
    pool: Pool,
    /// Requests that have not come yet begin here.
    next: usize,
    waiting: VecDeque<Waiting>,
    running: Vec<Stream>,
    /// Caches that are free, the least first.
    caches: std::collections::BTreeSet<u32>,
    names: Vec<&'a str>,
    kept: BTreeMap<usize, Kept>,
    counts: Counts,
    /// Seconds at which each request has come into the batch first.
    begun: Vec<Option<f64>>,
    /// Seconds so far.
    now: f64,
}

impl Stream {
    /// A stream in the batch, whose last token this step decodes.
    #[cfg(test)]
    pub(super) fn new(
        (request, cache): (usize, u32),
        tokens: u32,
        (pages, common): (Vec<u32>, u32),
        prefix: Option<usize>,
    ) -> Stream {
        Stream { request, cache, tokens, pages, common, prefix, left: 1 }
    }
}

impl Rules {
    /// What a design can hold; none without pages, or where nothing can be appended.
    pub fn of(design: &Design) -> Option<Rules> {
        let pages = design.pages.as_ref().filter(|_| design.append.is_some())?;
        Some(Rules {
            page_tokens: design.placement.segment_tokens,
            pages: pages.count,
            round: design.placement.round(),
            turns: design.placement.by_slice(),
            caches: pages.caches,
            tokens: design.model.max_tokens,
        })
    }

    /// Pages of so many tokens.
    pub fn pages_of(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.page_tokens)
    }

    /// Streams that the pages hold where each has those of the longest cache.
    pub fn reserved(&self) -> u32 {
        self.pages / self.pages_of(self.tokens)
    }

    /// Why a request never fits, with the way out; none if it does.
    pub fn refuses(&self, request: &Request) -> Option<String> {
        let tokens = u64::from(request.prompt) + u64::from(request.output);
        if tokens > u64::from(self.tokens) {
            return Some(format!(
                "prompt and output are {tokens} tokens, and model.max_tokens is {}\n  help: set model.max_tokens = \
                 {tokens}",
                self.tokens
            ));
        }
        // A prefix that does not fill its last page has one of its own.
        let own = self.pages_of(tokens as u32) + u32::from(request.prefix.is_some());
        let most = self.pages - self.reserve();
        (own > most).then(|| {
            format!(
                "prompt and output take {own} pages, and kv.page_count leaves {most} to a request\n  help: set \
                 kv.page_count = {}",
                own + own.div_ceil(RESERVE - 1)
            )
        })
    }

    /// Pages that stay free when a request is let in.
    fn reserve(&self) -> u32 {
        self.pages / RESERVE
    }
}

impl<'a> Batching<'a> {
    /// No request has come.
    pub fn new(rules: Rules, requests: &'a [Request]) -> Batching<'a> {
        let named = |request: &'a Request| request.prefix.as_ref().map(|prefix| prefix.name.as_str());
        let mut names: Vec<&str> = requests.iter().filter_map(named).collect();
        names.sort_unstable();
        names.dedup();
        Batching {
            rules,
            requests,
            pool: Pool::new(rules.pages, rules.round),
            next: 0,
            waiting: VecDeque::new(),
            running: Vec::new(),
            caches: (0..rules.caches).collect(),
            names,
            kept: BTreeMap::new(),
            counts: Counts::default(),
            begun: vec![None; requests.len()],
            now: 0.0,
        }
    }

    /// The streams of the next step, each with a page for its new token; none if all requests are over. Time passes until
    /// there is one.
    pub fn step(&mut self) -> Option<&[Stream]> {
        self.grow();
        self.arrive();
        self.admit();
        if self.running.is_empty() {
            self.now = self.now.max(self.requests.get(self.next)?.arrival);
            self.arrive();
            self.admit();
        }
        assert!(!self.running.is_empty(), "a request that never fits was let in");
        Some(&self.running)
    }

    /// The step is over, and took so many seconds: each stream has a token more, and leaves with its last.
    pub fn over(&mut self, seconds: f64) {
        self.now += seconds;
        self.counts.decoded += self.running.len() as u64;
        for stream in &mut self.running {
            stream.tokens += 1;
            stream.left -= 1;
        }
        let (go, stay) = std::mem::take(&mut self.running).into_iter().partition(|stream| stream.left == 0);
        self.running = stay;
        let go: Vec<Stream> = go;
        self.counts.finished += go.len();
        go.into_iter().for_each(|stream| self.leave(&stream));
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Seconds from the begin of the trace.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Requests that have come and wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Pages that are taken, and the tokens in them: each once, however many read it.
    pub fn taken(&self) -> (u32, u64) {
        let own = |stream: &Stream| u64::from(stream.tokens - stream.common);
        let kept = self.kept.values().map(|kept| u64::from(kept.tokens));
        (self.pool.taken(), self.running.iter().map(own).chain(kept).sum())
    }

    /// Seconds that each request has waited until it came into the batch; none of those that have not.
    pub fn waits(&self) -> impl Iterator<Item = f64> + '_ {
        let wait = |(request, begun): (&Request, &Option<f64>)| Some((*begun)? - request.arrival);
        self.requests.iter().zip(&self.begun).filter_map(wait)
    }

    /// Requests that have come by now wait.
    fn arrive(&mut self) {
        while let Some(request) = self.requests.get(self.next).filter(|request| request.arrival <= self.now) {
            let Request { prompt: tokens, output: left, .. } = *request;
            self.waiting.push_back(Waiting { request: self.next, tokens, left });
            self.next += 1;
        }
    }

    /// Gives each stream a page for its next token. Without a free one prefixes go that nobody reads, and then the stream
    /// that came last waits again.
    fn grow(&mut self) {
        let mut at = 0;
        while at < self.running.len() {
            let stream = &self.running[at];
            if stream.pages.len() as u32 > stream.tokens / self.rules.page_tokens {
                at += 1;
                continue;
            }
            let colour = self.colour(stream.cache, stream.pages.len() as u32);
            match self.take(colour, None) {
                Some(page) => self.running[at].pages.push(page),
                None => self.preempt(),
            }
        }
    }

    /// The stream that came last waits again, before all others.
    fn preempt(&mut self) {
        let stream = self.running.pop().expect("who needs a page runs");
        self.counts.preempted += 1;
        self.counts.again += u64::from(stream.tokens - stream.common);
        self.waiting.push_front(Waiting {
            request: stream.request,
            tokens: stream.tokens,
            left: stream.left,
        });
        self.leave(&stream);
    }

    /// A stream gives back its cache and its pages.
    fn leave(&mut self, stream: &Stream) {
        self.caches.insert(stream.cache);
        stream.pages.iter().for_each(|page| self.pool.release(*page));
    }

    /// The first of those that wait join the batch, while there are pages for them and for those that run.
    fn admit(&mut self) {
        while let (Some(first), Some(&cache)) = (self.waiting.front().copied(), self.caches.first()) {
            let prefix = self.requests[first.request].prefix.as_ref();
            let whole = prefix.map_or(0, |prefix| prefix.tokens / self.rules.page_tokens);
            let known = prefix.is_none_or(|prefix| self.kept.contains_key(&self.number(prefix)));
            let of_prefix = match prefix {
                Some(prefix) if !known => self.rules.pages_of(prefix.tokens),
                _ => 0,
            };
            // The new token is in a page, too.
            let own = self.rules.pages_of(first.tokens + 1) - whole;
            let spared = prefix.map(|prefix| self.number(prefix));
            let unread: u32 = self.unread(spared).map(|(_, kept)| kept.pages.len() as u32).sum();
            if own + of_prefix + self.rules.reserve() > self.pool.free() + unread {
                return;
            }
            self.waiting.pop_front();
            self.caches.remove(&cache);
            self.enter(first, cache);
        }
    }

    /// A request that was let in has its pages.
    fn enter(&mut self, first: Waiting, cache: u32) {
        let prefix = self.requests[first.request].prefix.as_ref();
        let number = prefix.map(|prefix| self.number(prefix));
        let mut pages = Vec::new();
        if let (Some(prefix), Some(number)) = (prefix, number) {
            self.keep(prefix, number, cache);
            let whole = prefix.tokens / self.rules.page_tokens;
            pages.extend_from_slice(&self.kept[&number].pages[..whole as usize]);
            pages.iter().for_each(|page| self.pool.share(*page));
            self.counts.copied += u64::from(!prefix.tokens.is_multiple_of(self.rules.page_tokens));
        }
        let common = pages.len() as u32 * self.rules.page_tokens;
        while (pages.len() as u32) < self.rules.pages_of(first.tokens + 1) {
            let colour = self.colour(cache, pages.len() as u32);
            pages.push(self.take(colour, number).expect("pages were counted"));
        }
        self.begun[first.request].get_or_insert(self.now);
        let Waiting { request, tokens, left } = first;
        self.running.push(Stream { request, cache, tokens, pages, common, prefix: number, left });
    }

    /// Keeps a prefix, if it is not kept yet.
    fn keep(&mut self, prefix: &Prefix, number: usize, cache: u32) {
        if self.kept.contains_key(&number) {
            return;
        }
        let count = self.rules.pages_of(prefix.tokens);
        let pages =
            (0..count).map(|at| self.take(self.colour(cache, at), Some(number)).expect("pages were counted"));
        let pages = pages.collect();
        self.kept.insert(number, Kept { tokens: prefix.tokens, pages });
    }

    /// Prefixes that nobody in the batch reads, but for one.
    fn unread(&self, spared: Option<usize>) -> impl Iterator<Item = (usize, &Kept)> + '_ {
        let read = |number: usize| self.running.iter().any(|stream| stream.prefix == Some(number));
        let kept = self.kept.iter().map(|(number, kept)| (*number, kept));
        kept.filter(move |(number, _)| Some(*number) != spared && !read(*number))
    }

    /// A free page. Prefixes that nobody reads are given up for it, but for that of the request it is for.
    fn take(&mut self, colour: u64, spared: Option<usize>) -> Option<u32> {
        loop {
            if let Some(page) = self.pool.take(colour) {
                return Some(page);
            }
            let (unread, _) = self.unread(spared).next()?;
            let kept = self.kept.remove(&unread).expect("it was found");
            kept.pages.iter().for_each(|page| self.pool.release(*page));
        }
    }

    /// Colour of the page of a segment: its home without pages.
    fn colour(&self, cache: u32, segment: u32) -> u64 {
        u64::from(segment) + if self.rules.turns { u64::from(cache) } else { 0 }
    }

    fn number(&self, prefix: &Prefix) -> usize {
        self.names.binary_search(&prefix.name.as_str()).expect("all prefixes are known")
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawn::Drawn;
    use super::*;
    use std::collections::HashMap;

    const RULES: Rules =
        Rules { page_tokens: 64, pages: 224, round: 8, turns: true, caches: 64, tokens: 8192 };

    /// A page has one owner of each of its tokens, or is of a prefix that is common.
    fn pages_are_sound(batching: &Batching) {
        let mut holders: HashMap<u32, u32> = HashMap::new();
        let kept = batching.kept.values().flat_map(|kept| &kept.pages);
        for page in batching.running.iter().flat_map(|stream| &stream.pages).chain(kept) {
            *holders.entry(*page).or_default() += 1;
        }
        let (taken, live) = batching.taken();
        assert_eq!(holders.len() as u32, taken);
        assert_eq!(taken + batching.pool.free(), batching.rules.pages);
        assert!(live <= u64::from(taken * batching.rules.page_tokens));
        for stream in &batching.running {
            let common = stream.common / batching.rules.page_tokens;
            let own = &stream.pages[common as usize..];
            assert!(own.iter().all(|page| holders[page] == 1), "{stream:?}");
            assert_eq!(stream.pages.len() as u32, batching.rules.pages_of(stream.tokens + 1), "{stream:?}");
        }
        let caches: std::collections::BTreeSet<u32> =
            batching.running.iter().map(|stream| stream.cache).collect();
        assert_eq!(caches.len(), batching.running.len());
    }

    #[test]
    fn every_request_gets_its_tokens_and_no_page_is_lost() {
        for (rules, count) in
            [(RULES, 200), (Rules { caches: 3, ..RULES }, 50), (Rules { pages: 140, ..RULES }, 100)]
        {
            let requests = Drawn::Chat.requests(3, count);
            let mut batching = Batching::new(rules, &requests);
            let mut most = 0;
            while let Some(streams) = batching.step() {
                most = most.max(streams.len());
                pages_are_sound(&batching);
                batching.over(0.01);
            }
            let counts = batching.counts();
            let outputs: u64 = requests.iter().map(|one| u64::from(one.output)).sum();
            assert_eq!((counts.finished, counts.decoded), (count, outputs));
            assert!(counts.copied >= count as u64, "each begins in the midst of a page");
            assert!(most > 2 && most <= rules.caches as usize);
            assert!(batching.waits().count() == count && batching.waits().all(|wait| wait >= 0.0));
            // The prefix stays.
            assert_eq!(batching.taken(), (8, 500));
        }
    }

    #[test]
    fn without_pages_the_last_one_waits_again() {
        let one = |output| Request { arrival: 0.0, prompt: 64, output, prefix: None };
        let requests = [one(200), one(150)];
        let mut batching = Batching::new(Rules { pages: 5, ..RULES }, &requests);
        let mut batches = Vec::new();
        while let Some(streams) = batching.step() {
            batches.push(streams.len());
            pages_are_sound(&batching);
            batching.over(0.01);
        }
        assert!(batching.counts().preempted > 0 && batching.counts().again > 0, "{:?}", batching.counts());
        assert_eq!((batching.counts().finished, batching.counts().decoded), (2, 350));
        assert_eq!((batches[0], batches[batches.len() - 1]), (2, 1));
    }

    #[test]
    fn a_request_does_not_give_up_the_prefix_that_it_begins_with() {
        let one = |arrival: f64, prompt, name: &str| {
            let prefix = Some(Prefix { name: name.to_owned(), tokens: 128 });
            Request { arrival, prompt, output: 1, prefix }
        };
        // Two prefixes of two pages, which nobody reads any more, and a request of five more pages on the first of them.
        let requests = [one(0.0, 129, "a"), one(1.0, 129, "b"), one(2.0, 446, "a")];
        let mut batching = Batching::new(Rules { pages: 8, ..RULES }, &requests);
        for kept in [vec![0], vec![0, 1], vec![0]] {
            assert_eq!(batching.step().map(<[Stream]>::len), Some(1));
            assert_eq!(batching.kept.keys().copied().collect::<Vec<_>>(), kept);
            pages_are_sound(&batching);
            batching.over(0.1);
        }
        assert!(batching.step().is_none());
    }

    #[test]
    fn time_passes_until_a_request_comes() {
        let requests = [Request { arrival: 5.0, prompt: 1, output: 2, prefix: None }];
        let mut batching = Batching::new(RULES, &requests);
        assert_eq!(batching.step().map(<[Stream]>::len), Some(1));
        assert_eq!(batching.now(), 5.0);
        batching.over(0.5);
        assert_eq!(batching.step().map(|streams| streams[0].tokens), Some(2));
        batching.over(0.5);
        assert!(batching.step().is_none());
    }

    #[test]
    fn what_never_fits_is_refused() {
        let of = |prompt, output| RULES.refuses(&Request { arrival: 0.0, prompt, output, prefix: None });
        assert_eq!(of(8000, 192), None);
        assert!(of(8000, 193).unwrap().contains("8193 tokens"));
        let few = Rules { pages: 100, ..RULES };
        let words = few.refuses(&Request { arrival: 0.0, prompt: 6400, output: 1, prefix: None }).unwrap();
        assert!(words.contains("take 101 pages") && words.ends_with("set kv.page_count = 103"), "{words}");
        let enough = Rules { pages: 103, ..RULES };
        assert_eq!(enough.refuses(&Request { arrival: 0.0, prompt: 6400, output: 1, prefix: None }), None);
    }
}
