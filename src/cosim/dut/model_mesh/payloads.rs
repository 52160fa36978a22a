//! Store of headers and payloads of the flits in queues and under way.

/// Words of flits by number, header first. Freed numbers are reused, so that a steady flow
/// allocates nothing.
#[derive(Debug)]
pub(super) struct Payloads {
    head: usize,
    width: usize,
    words: Vec<u32>,
    /// Deliveries still to come.
    left: Vec<u32>,
    free: Vec<u32>,
}

impl Payloads {
    /// A store for headers and payloads of so many words.
    pub(super) fn new(head: usize, data: usize) -> Payloads {
        Payloads { head, width: head + data, words: Vec::new(), left: Vec::new(), free: Vec::new() }
    }

    /// Stores the words of a flit until it has been delivered so often.
    pub(super) fn insert(&mut self, head: &[u32], data: &[u32], deliveries: u32) -> u32 {
        if let Some(slot) = self.free.pop() {
            let at = slot as usize * self.width;
            let (heads, words) = self.words[at..at + self.width].split_at_mut(self.head);
            heads.copy_from_slice(head);
            words.copy_from_slice(data);
            self.left[slot as usize] = deliveries;
            return slot;
        }
        self.words.extend_from_slice(head);
        self.words.extend_from_slice(data);
        self.left.push(deliveries);
        (self.left.len() - 1) as u32
    }

    /// Words of a payload that are stored.
    pub(super) fn data_words(&self) -> usize {
        self.width - self.head
    }

    /// Number of flits that there is room for.
    pub(super) fn records(&self) -> usize {
        self.left.len()
    }

    /// Header and payload of a flit.
    pub(super) fn words(&self, slot: u32) -> (&[u32], &[u32]) {
        let at = slot as usize * self.width;
        self.words[at..at + self.width].split_at(self.head)
    }

    /// Notes a delivery.
    pub(super) fn delivered(&mut self, slot: u32) {
        let left = &mut self.left[slot as usize];
        // A fabric with an upset may deliver too often, when the flit is gone already.
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.free.push(slot);
        }
    }

    pub(super) fn reset(&mut self) {
        self.words.clear();
        self.left.clear();
        self.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_kept_to_its_last_delivery() {
        let mut payloads = Payloads::new(1, 1);
        let a = payloads.insert(&[1], &[2], 2);
        payloads.delivered(a);
        let b = payloads.insert(&[3], &[4], 1);
        assert_ne!(a, b);
        assert_eq!(payloads.words(a), (&[1][..], &[2][..]));
        assert_eq!(payloads.words(b), (&[3][..], &[4][..]));
        payloads.delivered(a);
        assert_eq!(payloads.insert(&[5], &[6], 1), a);
    }
}
