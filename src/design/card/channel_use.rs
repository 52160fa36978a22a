//! Use of the card's memory channels: the homes and bytes that each holds, as the host's library lays out the cache.

use crate::design::card::memory::channels_of;
use crate::design::design::Design;

/// Homes and bytes of a channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelUse {
    /// Homes with bytes in it.
    pub homes: u32,
    /// Bytes of their regions.
    pub bytes: u64,
}

impl Design {
    /// Use of each channel of the card. A region that its channels do not hold is counted up to their end.
    pub fn channel_use(&self) -> Vec<ChannelUse> {
        let fpga = self.fpga();
        let mut all = vec![ChannelUse::default(); fpga.hbm_channels as usize];
        let size = u128::from(fpga.hbm_channel_bytes);
        for port in 0..self.memory.ports {
            let channels = channels_of(port, self.memory.ports, fpga.hbm_channels);
            let first_home = self.homes_of_port(port).next().unwrap_or(0);
            for home in self.homes_of_port(port) {
                let begin = u128::from(home - first_home) << self.memory.region_width;
                let end = begin + self.region_bytes();
                for (at, channel) in (0_u128..).zip(channels.clone()) {
                    let (from, to) = (begin.max(at * size), end.min((at + 1) * size));
                    if from < to {
                        all[channel as usize].homes += 1;
                        all[channel as usize].bytes += (to - from) as u64;
                    }
                }
            }
        }
        all
    }

    /// Most GB/s at which a layer with the same share for each home can be read: the channel with most homes is the last
    /// to end.
    pub fn balanced_gbs(&self) -> f64 {
        let channels = self.channel_use();
        let homes: u32 = (0..self.memory.ports).map(|port| self.homes_of_port(port).count() as u32).sum();
        let fullest = channels.iter().map(|channel| channel.homes).max().unwrap_or(0).max(1);
        let of_channel = self.memory.bandwidth_gbs / channels.len() as f64;
        f64::from(homes) * of_channel / f64::from(fullest)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::card::channel_use::*;

    fn design(cols: u32, rows: u32, change: impl Fn(&mut Config)) -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (cols, rows);
        (config.model.layers, config.model.max_streams) = (16, 1);
        change(&mut config);
        Design::from_config("test", &config).unwrap()
    }

    /// 16 layers of 512 segments of 32 slices of 32 KiB: all of the card.
    #[test]
    fn every_channel_has_its_share_of_the_cache_with_and_without_swaps() {
        for (cols, rows, homes) in [(4, 8, 1), (8, 8, 2), (16, 4, 2)] {
            for swap_epoch in [0, 128] {
                let design = design(cols, rows, |c| c.takv.swap_epoch = Some(swap_epoch));
                assert_eq!(design.channel_use(), [ChannelUse { homes, bytes: 256 << 20 }; 32]);
                assert_eq!(design.balanced_gbs(), 460.0);
            }
        }
    }

    #[test]
    fn homes_of_a_port_lie_apart_where_it_has_channels_for_them() {
        // 8 ports of two tiles, four channels each.
        let apart = design(4, 4, |c| (c.memory.tiles_per_port, c.model.layers) = (Some(2), 1));
        let homes: Vec<_> = apart.channel_use().iter().map(|channel| channel.homes).collect();
        assert_eq!(homes[..4], [1, 1, 0, 0]);
        // 36 homes behind 18 ports, of which four have one channel.
        let shared = design(6, 6, |c| c.model.layers = 1);
        assert_eq!(shared.channel_use().iter().map(|channel| channel.homes).max(), Some(2));
        assert!((shared.balanced_gbs() - 36.0 / 2.0 * 460.0 / 32.0).abs() < 1e-9);
    }
}
