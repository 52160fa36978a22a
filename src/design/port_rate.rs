//! Rate at which the memory ports read a layer.

use super::design::Design;

impl Design {
    /// Most GB/s of one memory port: a flit a cycle, and no more than a channel of memory gives besides its refresh.
    pub fn port_gbs(&self) -> f64 {
        let flit_bytes = f64::from(self.flit.data_width / 8);
        flit_bytes.min(self.memory.bytes_per_cycle()) * self.config.clock.noc_mhz / 1000.0
    }

    /// Most GB/s that all memory ports carry, whatever the memory behind them.
    pub fn all_ports_gbs(&self) -> f64 {
        let flit_bytes = f64::from(self.flit.data_width / 8);
        f64::from(self.memory.ports) * flit_bytes * self.config.clock.noc_mhz / 1000.0
    }

    /// Segments of the first layer that each memory port has, in a round over its homes.
    fn round_by_port(&self) -> Vec<u32> {
        let mut segments = vec![0; self.memory.ports as usize];
        for segment in 0..self.placement.round().min(self.placement.segments) {
            let (x, y) = self.mesh.coords(self.placement.home(0, segment));
            segments[self.memory.port(x, y) as usize] += 1;
        }
        segments
    }

    /// Memory ports that have a part of a layer.
    pub fn ports_of_layer(&self) -> usize {
        self.round_by_port().iter().filter(|segments| **segments > 0).count()
    }

    /// Most GB/s at which the ports read a layer: the one with most of it is the last to end.
    pub fn layer_gbs(&self) -> f64 {
        let segments = self.round_by_port();
        let most = segments.iter().copied().max().unwrap_or(1).max(1);
        f64::from(segments.iter().sum::<u32>()) / f64::from(most) * self.port_gbs()
    }
}
