//! Rate at which the memory ports read a layer.

use crate::design::design::Design;

impl Design {
    /// Most GB/s of one memory port: a flit a cycle, and no more than a channel of memory gives besides its refresh.
    pub fn port_gbs(&self) -> f64 {
        let flit_bytes = f64::from(self.flit.data_width / 8);
        flit_bytes.min(self.memory.bytes_per_cycle()) * self.clock.noc_mhz / 1000.0
    }

    /// Most GB/s that all memory ports carry, whatever the memory behind them.
    pub fn all_ports_gbs(&self) -> f64 {
        let flit_bytes = f64::from(self.flit.data_width / 8);
        f64::from(self.memory.ports) * flit_bytes * self.clock.noc_mhz / 1000.0
    }

    /// Blocks of the first layer that each memory port has, in a round over its homes.
    fn round_by_port(&self) -> Vec<u32> {
        let mut blocks = vec![0; self.memory.ports as usize];
        for segment in 0..self.placement.round().min(self.placement.segments) {
            for (x, y) in self.placement.homes_of(0, segment).map(|home| self.mesh.coords(home)) {
                blocks[self.memory.port(x, y) as usize] += 1;
            }
        }
        blocks
    }

    /// Memory ports that have a part of a layer.
    pub fn ports_of_layer(&self) -> usize {
        self.round_by_port().iter().filter(|blocks| **blocks > 0).count()
    }

    /// Most GB/s at which the ports read a layer: the one with most of it is the last to end.
    pub fn layer_gbs(&self) -> f64 {
        let blocks = self.round_by_port();
        let most = blocks.iter().copied().max().unwrap_or(1).max(1);
        f64::from(blocks.iter().sum::<u32>()) / f64::from(most) * self.port_gbs()
    }
}
