//! The memory of queries, outputs and lists, which the card has behind `m_axi_io`.

use crate::config::IoMemory;
use crate::design::card::memory::channels_of;
use crate::design::design::Design;
use crate::design::device::registers::{BUFFER_ALIGN, LIST_WORDS};

/// Descriptors of a list for which a channel of HBM has room beside queries and outputs.
const LISTED: u64 = 1 << 14;

impl Design {
    /// The memory of queries, outputs and lists under the shell: as configured, else the first that the card has.
    pub fn io(&self) -> IoMemory {
        self.configuration().memory.io.unwrap_or(self.fpga().io[0])
    }

    /// The channel of HBM in which they lie; none if they lie elsewhere. It is the channel with the fewest bytes of homes, of
    /// equal ones the first.
    pub fn io_channel(&self) -> Option<u32> {
        let emptiest = |channels: Vec<_>| (0..channels.len() as u32).min_by_key(|&at| channels[at as usize]);
        let bytes = || self.channel_use().iter().map(|channel| channel.bytes).collect();
        (self.io() == IoMemory::Hbm).then(|| emptiest(bytes())).flatten()
    }

    /// Their bank, as v++ and XRT name it.
    pub fn io_bank(&self) -> String {
        match (self.io(), self.io_channel()) {
            (IoMemory::Hbm, channel) => format!("HBM[{}]", channel.unwrap_or(0)),
            (IoMemory::Host, _) => "HOST[0]".to_owned(),
            (IoMemory::Ddr, _) => "DDR[0]".to_owned(),
        }
    }

    /// The memory port whose homes share a channel with them; none if no home does.
    pub fn io_port(&self) -> Option<u32> {
        let channel = self.io_channel()?;
        let shared = self.channel_use()[channel as usize].homes > 0;
        let (ports, all) = (self.memory.ports, self.fpga().hbm_channels);
        (0..ports).find(|port| shared && channels_of(*port, ports, all).contains(&channel))
    }

    /// Bytes of the buffers of queries and outputs of all streams, and of a list.
    pub fn io_bytes(&self) -> u64 {
        let streams = self.model.max_streams;
        let buffers = [self.query_bytes(streams), self.output_bytes(streams, true)].map(u64::from);
        let list = LISTED * 4 * u64::from(LIST_WORDS);
        buffers.into_iter().chain([list]).map(|bytes| bytes.next_multiple_of(u64::from(BUFFER_ALIGN))).sum()
    }

    /// Flits of the queries and outputs of so many streams in a layer, scales of heads among them. New tokens, partial
    /// results and lists are left out.
    pub fn io_flits(&self, streams: u32) -> u32 {
        let flit_bytes = self.flit.data_width / 8;
        let numbers = (streams * self.model.heads * self.pe.head_dim * 2).div_ceil(flit_bytes);
        let scales = if self.pe.is_scaled() { (8 * self.model.heads).div_ceil(flit_bytes) } else { 0 };
        2 * numbers + scales
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Board, Config};
    use crate::design::card::io::*;

    fn design(change: impl Fn(&mut Config)) -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (4, 8);
        (config.model.layers, config.model.max_streams, config.model.max_tokens) = (4, 1, 4096);
        change(&mut config);
        Design::from_config("test", &config).unwrap()
    }

    #[test]
    fn each_board_has_a_memory_by_default_and_a_configuration_another() {
        for board in Board::ALL {
            let of = |io| design(|c| (c.board, c.memory.io) = (board, io));
            let first = if board == Board::U280 { IoMemory::Ddr } else { IoMemory::Host };
            assert_eq!((of(None).io(), of(None).io_channel(), of(None).io_port()), (first, None, None));
            let hbm = of(Some(IoMemory::Hbm));
            assert_eq!((hbm.io(), hbm.io_channel(), hbm.io_port()), (IoMemory::Hbm, Some(0), Some(0)));
        }
    }

    #[test]
    fn the_channel_is_one_without_a_home_where_there_is_one() {
        // 16 ports of two channels, of which homes fill the first.
        let spare = design(|c| (c.mesh.rows, c.memory.io) = (4, Some(IoMemory::Hbm)));
        assert_eq!((spare.io_channel(), spare.io_port()), (Some(1), None));
    }

    #[test]
    fn queries_and_outputs_of_llama_are_256_flits_a_stream() {
        assert_eq!([1, 8].map(|streams| design(|_| {}).io_flits(streams)), [256, 2048]);
        assert!(design(|_| {}).io_bytes() > 3 * 32 * 128 * 2);
    }
}
