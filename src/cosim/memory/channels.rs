//! Channels of the external memory: each has bandwidth and refresh, and addresses decide which ports share it.

use crate::design::{channels_of, Design, Refresh};
use std::collections::VecDeque;

/// Assignment of addresses to channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// A channel behind each port, whatever the address.
    OfPort,
    /// Parts of memory in channels.
    Parts(Parts),
}

/// Parts of memory in channels, each of the homes of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// First channel of each part, and the number of its channels, which follow one another.
    pub channels: Vec<(u32, u32)>,
    /// Bits of a byte of a part: the part's number is above them in an address.
    pub part_width: u32,
    /// Bytes of a channel.
    pub channel_bytes: u64,
}

impl Layout {
    /// The layout that the host's library makes: the homes of each port in channels of their own.
    pub fn of(design: &Design) -> Layout {
        let (memory, fpga) = (&design.memory, design.fpga());
        let of_port = |port| channels_of(port, memory.ports, fpga.hbm_channels);
        let channels = (0..memory.ports).map(of_port).map(|all| (all.start, all.len() as u32));
        Layout::Parts(Parts {
            channels: channels.collect(),
            part_width: memory.part_width(),
            channel_bytes: fpga.hbm_channel_bytes,
        })
    }

    /// Channels that it names; one for each of `ports` where they are not named.
    fn channels(&self, ports: usize) -> u32 {
        match self {
            Layout::OfPort => ports as u32,
            Layout::Parts(parts) => {
                parts.channels.iter().map(|(first, count)| first + count).max().unwrap_or(0)
            }
        }
    }

    /// The channel of an address. Parts larger than their channels begin again: no card has such a memory.
    fn channel(&self, port: usize, address: u64) -> usize {
        let Layout::Parts(parts) = self else { return port };
        let part = (address >> parts.part_width) as usize;
        let Some(&(first, count)) = parts.channels.get(part) else { return 0 };
        let byte = address & ((1 << parts.part_width) - 1);
        (u64::from(first) + byte / parts.channel_bytes % u64::from(count.max(1))) as usize
    }
}

/// A port that waits for a beat of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticket {
    port: usize,
    /// Cycle in which it asked last.
    asked: u64,
}

/// A channel: bytes that it may send now, and the ports that wait for it.
#[derive(Debug, Clone)]
struct Channel {
    budget: f64,
    /// Cycle up to which the budget is counted.
    counted: u64,
    /// Cycles of its refresh before the first.
    phase: u64,
    waiting: VecDeque<Ticket>,
}

/// All channels of a memory.
#[derive(Debug)]
pub(super) struct Channels {
    layout: Layout,
    refresh: Option<Refresh>,
    bytes_per_cycle: f64,
    flit_bytes: f64,
    all: Vec<Channel>,
}

impl Channels {
    /// Channels before the first cycle, behind so many ports. `bytes_per_cycle` is the peak of one.
    pub(super) fn new(
        layout: &Layout,
        refresh: Option<Refresh>,
        bytes_per_cycle: f64,
        flit_bytes: u32,
        ports: usize,
    ) -> Channels {
        let count = layout.channels(ports);
        let channel = |index| Channel {
            budget: 0.0,
            counted: 0,
            phase: refresh.map_or(0, |refresh| u64::from(refresh.phase(index, count))),
            waiting: VecDeque::new(),
        };
        Channels {
            layout: layout.clone(),
            refresh,
            bytes_per_cycle,
            flit_bytes: f64::from(flit_bytes),
            all: (0..count).map(channel).collect(),
        }
    }

    /// Takes a beat at an address for a port, if the channel has one for it in this cycle. Ports that wait for the same
    /// channel take turns.
    pub(super) fn take(&mut self, port: usize, address: u64, cycle: u64) -> bool {
        let channel = &mut self.all[self.layout.channel(port, address)];
        let resting = channel.count(cycle, self.refresh, self.bytes_per_cycle, self.flit_bytes);
        // A port that has not repeated its request since the last cycle waits no longer.
        while channel.waiting.front().is_some_and(|ticket| ticket.asked + 1 < cycle) {
            channel.waiting.pop_front();
        }
        let first = channel.waiting.front().is_none_or(|ticket| ticket.port == port);
        if first && !resting && channel.budget >= self.flit_bytes {
            channel.waiting.pop_front();
            channel.budget -= self.flit_bytes;
            return true;
        }
        match channel.waiting.iter_mut().find(|ticket| ticket.port == port) {
            Some(ticket) => ticket.asked = cycle,
            None => channel.waiting.push_back(Ticket { port, asked: cycle }),
        }
        false
    }

    /// Takes the bandwidth of so many written beats at an address from those that are read.
    pub(super) fn spend(&mut self, port: usize, address: u64, beats: u64) {
        let channel = self.layout.channel(port, address);
        self.all[channel].budget -= beats as f64 * self.flit_bytes;
    }
}

impl Channels {
    /// Takes the bandwidth of so many beats of another master from those that are read of a channel.
    pub(super) fn share(&mut self, channel: usize, beats: u64) {
        if let Some(channel) = self.all.get_mut(channel) {
            channel.budget -= beats as f64 * self.flit_bytes;
        }
    }
}

impl Channel {
    /// Adds the bytes of all cycles up to this one. A pause saves bandwidth for one beat and no more. True while the
    /// channel is refreshed.
    fn count(&mut self, cycle: u64, refresh: Option<Refresh>, bytes_per_cycle: f64, flit_bytes: f64) -> bool {
        let now = cycle + 1 + self.phase;
        let before = self.counted + self.phase;
        let more = match refresh {
            Some(refresh) => working(now, refresh) - working(before, refresh),
            None => now - before,
        };
        self.counted = cycle + 1;
        if more > 0 {
            self.budget = (self.budget + more as f64 * bytes_per_cycle).min(flit_bytes + bytes_per_cycle);
        }
        refresh.is_some_and(|refresh| (now - 1) % u64::from(refresh.interval) < u64::from(refresh.rest))
    }
}

/// Cycles of the first `cycles` in which a channel works. Each interval begins with the rest.
fn working(cycles: u64, refresh: Refresh) -> u64 {
    let (interval, rest) = (u64::from(refresh.interval), u64::from(refresh.rest));
    cycles / interval * (interval - rest) + (cycles % interval).saturating_sub(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const REFRESH: Refresh = Refresh { interval: 975, rest: 65 };
    const CYCLES: u64 = 97_500;

    /// Beats of each port that always wants one at its address.
    fn beats(layout: &Layout, refresh: Option<Refresh>, addresses: &[u64]) -> Vec<u64> {
        let mut channels = Channels::new(layout, refresh, 57.5, 64, addresses.len());
        let mut taken = vec![0; addresses.len()];
        for cycle in 0..CYCLES {
            for (port, &address) in addresses.iter().enumerate() {
                taken[port] += u64::from(channels.take(port, address, cycle));
            }
        }
        taken
    }

    fn share(beats: u64) -> f64 {
        beats as f64 * 64.0 / (57.5 * CYCLES as f64)
    }

    fn parts(channels: &[(u32, u32)]) -> Layout {
        Layout::Parts(Parts { channels: channels.to_vec(), part_width: 27, channel_bytes: 1 << 28 })
    }

    #[test]
    fn ports_of_one_channel_share_its_bandwidth_evenly() {
        let addresses = [0, 1 << 27, 2 << 27];
        for taken in beats(&parts(&[(0, 1), (1, 1), (2, 1)]), None, &addresses) {
            assert!((share(taken) - 1.0).abs() < 1e-3, "{taken}");
        }
        for taken in beats(&parts(&[(0, 1); 3]), None, &addresses) {
            assert!((share(taken) - 1.0 / 3.0).abs() < 1e-3, "{taken}");
        }
    }

    #[test]
    fn refresh_takes_its_share_and_no_more() {
        for taken in beats(&parts(&[(0, 1), (1, 1)]), Some(REFRESH), &[0, 1 << 27]) {
            assert!((share(taken) - REFRESH.left()).abs() < 1e-3, "{taken}");
        }
        // A port that comes back after a pause finds bandwidth for a beat, not for the pause.
        let mut channels = Channels::new(&Layout::OfPort, Some(REFRESH), 57.5, 64, 1);
        assert!(channels.take(0, 0, 5000));
        let next = (5001..).find(|&cycle| channels.take(0, 0, cycle)).unwrap();
        assert!(next <= 5002);
    }

    #[test]
    fn a_write_is_charged_to_the_channel_of_its_address() {
        let layout = parts(&[(0, 1), (1, 1)]);
        let mut channels = Channels::new(&layout, None, 64.0, 64, 2);
        channels.spend(0, 1 << 27, 10);
        assert!(channels.take(0, 0, 1));
        let first = (1..).find(|&cycle| channels.take(1, 1 << 27, cycle)).unwrap();
        assert_eq!(first, 10);
    }

    #[test]
    fn beats_of_another_master_are_charged_to_the_channel_that_they_share() {
        let layout = parts(&[(0, 1), (1, 1)]);
        let mut channels = Channels::new(&layout, None, 64.0, 64, 2);
        channels.share(1, 10);
        // A channel that no home has is nobody's.
        channels.share(2, 10);
        assert!(channels.take(0, 0, 1));
        let first = (1..).find(|&cycle| channels.take(1, 1 << 27, cycle)).unwrap();
        assert_eq!(first, 10);
    }

    #[test]
    fn every_home_of_a_card_has_a_channel_or_an_equal_share_of_one() {
        let named = ["u280_4x8", "u280_8x8", "u280_16x4"];
        for (name, (cols, rows)) in named.into_iter().zip([(4, 8), (8, 8), (16, 4)]) {
            for swap_epoch in [0, 128] {
                let mut config = Config::default();
                (config.mesh.cols, config.mesh.rows, config.takv.swap_epoch) = (cols, rows, Some(swap_epoch));
                (config.model.layers, config.model.max_streams) = (8, 1);
                config.takv.column_stride = 1;
                let design = Design::from_config(name, &config).unwrap();
                let layout = Layout::of(&design);
                let mut homes = vec![std::collections::BTreeSet::new(); 32];
                for segment in 0..design.placement.segments {
                    let home = design.placement.home(3, segment);
                    let channel = layout.channel(0, design.slice_address(0, 3, segment, 5));
                    homes[channel].insert(home.index());
                }
                let of_each = (cols * rows / 32) as usize;
                assert!(homes.iter().all(|homes| homes.len() == of_each), "{name}: {homes:?}");
            }
        }
    }
}
