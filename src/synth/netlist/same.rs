//! Sets of nets that are the same.

/// Sets of nets, each represented by its lowest.
#[derive(Debug, Clone, Default)]
pub struct Same {
    parent: Vec<u32>,
}

impl Same {
    /// So many nets, each by itself.
    pub fn new(nets: u32) -> Same {
        Same { parent: (0..nets).collect() }
    }

    /// Adds nets; returns the number of the first.
    pub fn add(&mut self, nets: u32) -> u32 {
        let first = self.parent.len() as u32;
        self.parent.extend(first..first + nets);
        first
    }

    /// The net that represents the set.
    pub fn root(&mut self, net: u32) -> u32 {
        let mut root = net as usize;
        while self.parent[root] != root as u32 {
            self.parent[root] = self.parent[self.parent[root] as usize];
            root = self.parent[root] as usize;
        }
        root as u32
    }

    /// Makes one set of two.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        // The lower number wins: it is the net of the outer module.
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
