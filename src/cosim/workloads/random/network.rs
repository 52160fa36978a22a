//! Drives the ports of the tiles to a network that is not there.

use super::state::RandomFabric;
use super::ways::Flit;

impl RandomFabric {
    /// Drives the network's outputs to every tile.
    pub(super) fn drive_network(&mut self) {
        let Some(mut network) = self.network.take() else { return };
        let cycle = self.pins.cycle();
        for tile in 0..self.parts.len() {
            let (credit, flit) = network.shows(tile, cycle);
            self.set("tx_credit", tile, credit);
            self.set("rx_valid", tile, flit.as_ref().map_or(0, |flit| 1 << flit.vc));
            let Some(flit) = flit else { continue };
            for (name, words) in [("rx_head", &flit.head), ("rx_data", &flit.data)] {
                let pin = self.ports[name].pin;
                self.pins.set_part(pin, tile, words);
            }
        }
        self.network = Some(network);
    }

    /// Samples the outputs of the tiles.
    pub(super) fn read_network(&mut self) {
        let Some(mut network) = self.network.take() else { return };
        let cycle = self.pins.cycle();
        for tile in 0..self.parts.len() {
            network.credited(tile, self.get("rx_credit", tile));
            let valid = self.get("tx_valid", tile);
            if valid == 0 {
                continue;
            }
            let words = |name: &str| self.pins.part(self.ports[name].pin, tile).collect::<Vec<_>>();
            let flit = Flit { vc: valid.trailing_zeros(), head: words("tx_head"), data: words("tx_data") };
            network.takes(tile, cycle, flit, &words("tx_dest"));
            self.seen.sent += 1;
        }
        self.network = Some(network);
    }
}
