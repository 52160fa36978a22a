//! Rules of the speed of external memory: it answers before a home gives it up, and works between two refreshes.

use super::placement::size;
use crate::config::{Advice, Config, Finding, IoMemory};
use crate::design::card::caches::worst;
use crate::design::card::fpga::Fpga;
use crate::design::card::memory::{burst_flits, tiles_per_port, BURST_SLOT_BITS};
use crate::design::card::refresh::Refresh;
use crate::design::depths::TIMEOUT_WIDTH;
use crate::design::design::Design;
use crate::design::mare::slice::chunk_flits;

/// Steps of the advised bandwidth in GB/s.
const STEP: f64 = 0.01;
/// Largest part of the time that a channel may rest.
const MOST_REFRESH: f64 = 0.5;

/// A home whose memory sends nothing for `2^TIMEOUT_WIDTH` cycles reports an error and asks no more.
/// Memory may answer bursts in any order, so a port must be able to answer all that it may owe in
/// that time.
pub(super) fn memory_answers_before_a_home_gives_it_up(config: &Config) -> Option<Finding> {
    let (memory, cycles_per_ns) = (&config.memory, config.clock.noc_mhz / 1000.0);
    let flit_bytes = f64::from(config.noc.flit_width / 8);
    let bursts = tiles_per_port(config) << BURST_SLOT_BITS;
    let bytes = f64::from(bursts * burst_flits(config, chunk_flits(config))) * flit_bytes;
    let refresh = Refresh::new(config);
    let rests = refresh.map_or(0.0, |refresh| f64::from(refresh.rest));
    let patience = f64::from(1 << TIMEOUT_WIDTH) - 1.0 - (memory.latency_ns * cycles_per_ns).ceil() - rests;
    let channels =
        f64::from(Fpga::of(config.board).hbm_channels) / refresh.map_or(1.0, |refresh| refresh.left());
    // Bytes a nanosecond are GB/s.
    let least = bytes / patience * channels * cycles_per_ns;
    (memory.bandwidth_gbs < least).then(|| {
        // A decimal of two digits, not the float nearest to a sum of steps.
        let try_this = ((least / STEP).ceil() * STEP * 100.0).round() / 100.0;
        Finding::value(
            "memory.bandwidth_gbs",
            memory.bandwidth_gbs,
            format!(
                "is too slow: a home gives memory up after {} cycles without an answer, and a port may owe {bursts} bursts",
                1 << TIMEOUT_WIDTH
            ),
            "a step would end with an error of its homes",
        )
        .advising([Advice::set("memory.bandwidth_gbs", try_this)])
        .with(&[
            "memory.latency_ns",
            "memory.refresh",
            "memory.refresh_ns",
            "memory.refresh_interval_ns",
            "memory.tiles_per_port",
            "clock.noc_mhz",
            "mesh.cols",
            "mesh.rows",
            "noc.flit_width",
            "pad.fifo_depth",
            "kv.segment_tokens",
            "pe.head_dim",
        ])
    })
}

const IO: &str = "memory.io";

/// `m_axi_io` reaches only memories that the card has.
pub(super) fn the_card_has_the_memory_of_queries(config: &Config) -> Option<Finding> {
    let (io, fpga) = (config.memory.io?, Fpga::of(config.board));
    (!fpga.io.contains(&io)).then(|| {
        let names: Vec<_> = fpga.io.iter().map(|io| io.name()).collect();
        let fault =
            format!("is a memory that the {} does not have: it has {}", fpga.name, names.join(" and "));
        let help = "queries, outputs and lists lie there under the shell of Vitis";
        let others = fpga.io.iter().map(|io| Advice::set(IO, io.name()));
        Finding::value(IO, format!("{:?}", io.name()), fault, help)
            .advising(others.chain([Advice::leave_out(IO)]))
            .with(&["board"])
    })
}

/// Queries, outputs and lists have room beside the homes of their channel.
pub(super) fn queries_have_room_in_their_channel(config: &Config) -> Option<Finding> {
    let design = Design::decide("layout", config);
    let channel = design.io_channel()?;
    let (homes, io) = (design.channel_use()[channel as usize].bytes, design.io_bytes());
    let there = design.fpga().hbm_channel_bytes;
    // Caches that do not fit by themselves are another finding.
    let fit = worst(config, &design.placement).share() <= 1.0;
    (fit && homes + io > there).then(|| {
        let fault = format!(
            "leaves no room: homes take {} of HBM[{channel}], which has {}, and queries, outputs and lists {}",
            size(homes as f64),
            size(there as f64),
            size(io as f64)
        );
        let help = "the host could not allocate their buffers";
        let others = design.fpga().io.iter().filter(|io| **io != IoMemory::Hbm);
        Finding::value(IO, format!("{:?}", IoMemory::Hbm.name()), fault, help)
            .advising(others.map(|io| Advice::set(IO, io.name())))
            .with(&["board", "model.max_tokens", "model.max_streams", "model.layers"])
    })
}

/// A channel that is always refreshed gives nothing.
pub(super) fn a_refresh_ends_before_the_next(config: &Config) -> Option<Finding> {
    let memory = &config.memory;
    let worst = MOST_REFRESH * memory.refresh_interval_ns;
    (memory.refresh && memory.refresh_ns > worst).then(|| {
        Finding::value(
            "memory.refresh_ns",
            memory.refresh_ns,
            format!(
                "is more than half of memory.refresh_interval_ns = {}: a channel would rest most of the time",
                memory.refresh_interval_ns
            ),
            "a refresh is short beside the time to the next",
        )
        .advising([Advice::set("memory.refresh_ns", worst), Advice::set("memory.refresh", false)])
        .with(&["memory.refresh_interval_ns"])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Board, Severity};

    fn judged(gbs: f64, change: impl Fn(&mut Config)) -> Option<Finding> {
        let mut config = Config::default();
        config.memory.bandwidth_gbs = gbs;
        change(&mut config);
        memory_answers_before_a_home_gives_it_up(&config)
    }

    #[test]
    fn the_advised_bandwidth_is_legal_and_little_less_is_not() {
        let small = |c: &mut Config| {
            (c.mesh.cols, c.mesh.rows, c.noc.flit_width) = (2, 2, 64);
            (c.memory.latency_ns, c.clock.noc_mhz) = (10_000.0, 500.0);
        };
        let changes: [&dyn Fn(&mut Config); 4] =
            [&|_| {}, &small, &|c| (c.mesh.cols, c.mesh.rows, c.noc.flit_width) = (16, 16, 1024), &|c| {
                c.clock.noc_mhz = 1.0
            }];
        for change in changes {
            let found = judged(1e-6, change).unwrap();
            let advised = found.advice[0].set[0].value.as_f64().unwrap();
            assert_eq!(judged(advised, change), None, "{found:?}");
            assert!(advised < 0.02 || judged(advised - 0.011, change).is_some(), "{found:?}");
        }
    }

    #[test]
    fn a_card_refuses_a_memory_of_queries_that_it_does_not_have() {
        for board in Board::ALL {
            for io in IoMemory::ALL {
                let mut config = Config { board, ..Config::default() };
                config.memory.io = Some(io);
                let found = the_card_has_the_memory_of_queries(&config);
                assert_eq!(found.is_some(), (board, io) == (Board::U55c, IoMemory::Ddr), "{found:?}");
                let Some(found) = found else { continue };
                assert_eq!((found.key.as_str(), found.severity), ("memory.io", Severity::Error));
                assert!(found.fault.contains("the U55C does not have: it has host and hbm"), "{found:?}");
                assert!(found.help_text().contains("try io = \"host\", or io = \"hbm\""), "{found:?}");
            }
        }
    }

    #[test]
    fn queries_in_hbm_need_room_beside_the_homes_of_their_channel() {
        let judged = |io, layers| {
            let mut config = Config::default();
            (config.mesh.cols, config.mesh.rows) = (4, 8);
            (config.model.layers, config.model.max_streams) = (layers, 1);
            config.memory.io = Some(io);
            queries_have_room_in_their_channel(&config)
        };
        // 16 layers of 32 K tokens, four a column, are all of HBM.
        assert_eq!((judged(IoMemory::Hbm, 12), judged(IoMemory::Ddr, 16)), (None, None));
        let found = judged(IoMemory::Hbm, 16).unwrap();
        assert!(found.fault.contains("homes take 256.00 MiB of HBM[0], which has 256.00 MiB"), "{found:?}");
        assert!(found.help_text().contains("try io = \"ddr\", or io = \"host\""), "{found:?}");
    }
}
