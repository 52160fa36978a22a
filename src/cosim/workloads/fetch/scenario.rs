//! Scenarios of fetches: those of a decode step, and special ones for tests.
//!
//! A workload has the requests of the tiles and their cycles. Homes are where TaKV places the
//! slices (section TaKV of the paper, with `column_stride`). [`crate::cosim::workloads::fetch`]
//! runs the plan on a fabric.

use super::plan::{Command, Plan, Resident};
use crate::cosim::hash::mix;
use crate::cosim::workloads::SliceId;
use crate::design::{Design, NodeId};

/// Requests of the tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Tiles request one whole slice of one home at the same time, chunk by chunk as their FIFOs
    /// have room.
    Slice {
        /// Tiles with requests, drawn by the seed; the home is not among them.
        requesters: u32,
    },
    /// Every tile requests the same slices, as from a column controller: each row `skew` cycles
    /// after the one before.
    Broadcast {
        /// Slices, one a segment of layer 0.
        slices: u32,
        /// Chunks of each that are requested.
        chunks: u32,
        /// Cycles from one row to the next.
        skew: u32,
        /// Column x begins with slice x, so that not all request from one home at a time.
        rotate: bool,
    },
    /// The same is requested twice, again and again, after its home has sent it already.
    Duplicates {
        /// Cause of the duplicates.
        cause: Cause,
        /// Chunks that are requested.
        rounds: u32,
    },
    /// Every tile requests at random; its heads request together, apart, and again.
    Random {
        /// Commands of a tile.
        commands: u32,
        /// Mean cycles between two of them.
        gap: u32,
        /// Slices to draw from.
        slices: u32,
    },
    /// All tiles request the same few ranges, in waves and apart; some slices become resident only after requests for
    /// them were repeated. It brings homes and requesters into their rare states.
    Storm {
        /// Commands of a tile.
        commands: u32,
        /// Mean cycles between two of them, outside of waves.
        gap: u32,
        /// Slices to draw from.
        slices: u32,
    },
}

/// Cause of duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A second head of a tile requests just after the window of the first has ended.
    Heads,
    /// It requests together with another tile's first request.
    Trees,
    /// A slice becomes resident only after a repeated request for it.
    Retries,
}

/// Reason why a workload is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// More requesters than other tiles.
    #[error("{asked} tiles cannot ask one home of {tiles} tiles\n  help: at most {} others are there", tiles - 1)]
    Requesters {
        /// Requesters asked for.
        asked: u32,
        /// Tiles of the mesh.
        tiles: u32,
    },
    /// More slices than segments or homes hold.
    #[error("{asked} slices are more than the {most} that {what}\n  help: ask for at most {most}")]
    Slices {
        /// Slices asked for.
        asked: u32,
        /// The limit.
        most: u32,
        /// Reason of the limit.
        what: &'static str,
    },
    /// More chunks than a slice has.
    #[error("a slice has {most} chunks, not {asked}\n  help: ask for 1 to {most}")]
    Chunks {
        /// Chunks asked for.
        asked: u32,
        /// Chunks of a slice.
        most: u32,
    },
}

/// Cycles without movement after which a fabric is stuck: twice the longest effect of a retry.
fn watchdog(design: &Design) -> u64 {
    4 * u64::from(design.mare.retry_cycles().1).max(5_000)
}

/// The plan of a workload on a design.
///
/// # Errors
/// If the fabric cannot hold it.
pub fn plan(design: &Design, workload: &Workload, seed: u64) -> Result<Plan, WorkloadError> {
    let tiles = design.mesh.tiles();
    let mut plan = Plan {
        residents: Vec::new(),
        commands: vec![Vec::new(); tiles],
        stall: 0,
        seed,
        watchdog: watchdog(design),
    };
    let chunks_of_slice = design.mare.slice_flits / design.mare.chunk_flits;
    match *workload {
        Workload::Slice { requesters } => slice(design, &mut plan, requesters, chunks_of_slice)?,
        Workload::Broadcast { slices, chunks, skew, rotate } => {
            if !(1..=chunks_of_slice).contains(&chunks) {
                return Err(WorkloadError::Chunks { asked: chunks, most: chunks_of_slice });
            }
            place(design, &mut plan, slices)?;
            broadcast(design, &mut plan, slices, chunks, skew, rotate);
        }
        Workload::Duplicates { cause, rounds } => duplicates(design, &mut plan, cause, rounds),
        Workload::Random { commands, gap, slices } => {
            place(design, &mut plan, slices)?;
            random(design, &mut plan, commands, gap, slices, chunks_of_slice);
        }
        Workload::Storm { commands, gap, slices } => {
            place(design, &mut plan, slices)?;
            storm(design, &mut plan, commands, gap, slices, chunks_of_slice);
        }
    }
    Ok(plan)
}

fn of_segment(segment: u32) -> SliceId {
    SliceId { stream: 0, layer: 0, segment, slice: 0 }
}

/// Puts slice 0 of the first segments of layer 0 where TaKV places them.
fn place(design: &Design, plan: &mut Plan, slices: u32) -> Result<(), WorkloadError> {
    let most = design.placement.segments;
    if slices > most {
        return Err(WorkloadError::Slices { asked: slices, most, what: "segments a layer has" });
    }
    let mut held = vec![0; design.mesh.tiles()];
    for segment in 0..slices {
        let home = design.home_of(0, 0, segment, 0);
        held[home.index()] += 1;
        if held[home.index()] > design.mare.staging_slots {
            return Err(WorkloadError::Slices { asked: slices, most: segment, what: "homes hold" });
        }
        plan.residents.push(Resident { slice: of_segment(segment), home, cycle: 0 });
    }
    Ok(())
}

/// One chunk of a segment's slice.
fn chunk(design: &Design, cycle: u64, segment: u32, chunk: u32, mask: u64) -> Command {
    let flits = design.mare.chunk_flits;
    let first = chunk * flits;
    let (slice, home) = (of_segment(segment), design.home_of(0, 0, segment, 0));
    Command { cycle, slice, home, mask, first, last: first + flits - 1 }
}

fn slice(design: &Design, plan: &mut Plan, requesters: u32, chunks: u32) -> Result<(), WorkloadError> {
    let tiles = design.mesh.tiles() as u32;
    if requesters >= tiles {
        return Err(WorkloadError::Requesters { asked: requesters, tiles });
    }
    // Shuffled by the seed: the home first, then the requesters.
    let mut order: Vec<NodeId> = design.mesh.nodes().collect();
    order.sort_by_key(|tile| mix(plan.seed ^ mix(tile.index() as u64)));
    let home = order[0];
    plan.residents.push(Resident { slice: of_segment(0), home, cycle: 0 });
    for asker in &order[1..=requesters as usize] {
        plan.commands[asker.index()] =
            (0..chunks).map(|c| Command { home, ..chunk(design, 0, 0, c, 1) }).collect();
    }
    Ok(())
}

fn broadcast(design: &Design, plan: &mut Plan, slices: u32, chunks: u32, skew: u32, rotate: bool) {
    for tile in design.mesh.nodes() {
        let (x, y) = design.mesh.coords(tile);
        let first = if rotate { x % slices } else { 0 };
        let cycle = u64::from(y * skew);
        plan.commands[tile.index()] = (0..slices)
            .map(|i| (first + i) % slices)
            .flat_map(|segment| (0..chunks).map(move |c| (segment, c)))
            .map(|(segment, c)| chunk(design, cycle, segment, c, 1))
            .collect();
    }
}

/// Requests for one slice of tile 0: its farthest tile requests twice, and for `Trees` a tile half
/// as far joins it.
fn duplicates(design: &Design, plan: &mut Plan, cause: Cause, rounds: u32) {
    let (mesh, mare) = (design.mesh, design.mare);
    let chunks = mare.slice_flits / mare.chunk_flits;
    let home = mesh.node(0, 0).expect("every mesh has it");
    let far = mesh.node(mesh.cols() - 1, mesh.rows() - 1).expect("every mesh has it");
    let near = mesh.node(mesh.cols() / 2, mesh.rows() / 2).expect("every mesh has it");
    let (shortest, longest) = (u64::from(mare.retry_cycles().0), u64::from(mare.retry_cycles().1));
    let window = u64::from(mare.coalesce_window);
    // No state of a round is left when the next begins, and no generation is used up.
    let round = 4 * u64::from(mare.bloom_refresh) + window + 200;
    // The second fetch arrives a cycle or two after the window, before the first flit can have
    // come.
    let lag = window + 2;
    // The near tile's fetch is sent later by the difference of the ways, and arrives just after the
    // other.
    let cycles = |to: NodeId| {
        let (x, y) = mesh.coords(to);
        u64::from(x + design.router.stages * y + design.crossed(0, y))
    };
    let ahead = cycles(far) - cycles(near) + 2;
    for i in 0..rounds {
        let slice = SliceId { segment: i / chunks, ..of_segment(0) };
        let command = |cycle, mask| Command { cycle, slice, home, ..chunk(design, 0, 0, i % chunks, mask) };
        let start = round * u64::from(i);
        let fars = &mut plan.commands[far.index()];
        fars.push(command(start, 1));
        match cause {
            Cause::Heads => fars.push(command(start + lag, 2)),
            Cause::Trees => {
                fars.push(command(start + lag, 2));
                plan.commands[near.index()].push(command(start + lag + ahead, 1));
            }
            Cause::Retries => {}
        }
    }
    let late = if cause == Cause::Retries { shortest + longest } else { 0 };
    for segment in 0..rounds.div_ceil(chunks) {
        plan.residents.push(Resident { slice: SliceId { segment, ..of_segment(0) }, home, cycle: late });
    }
    plan.watchdog = plan.watchdog.max(4 * late);
}

fn random(design: &Design, plan: &mut Plan, commands: u32, gap: u32, slices: u32, chunks: u32) {
    let masks = (1_u64 << design.flit.mask_width()) - 1;
    let mut state = mix(plan.seed);
    let mut below = |n: u64| {
        state = mix(state);
        (state >> 16) % n
    };
    for queue in &mut plan.commands {
        let mut cycle = 0;
        while queue.len() < commands as usize {
            cycle += below(2 * u64::from(gap) + 1);
            let (segment, c) = (below(u64::from(slices)) as u32, below(u64::from(chunks.min(4))) as u32);
            let command = chunk(design, cycle, segment, c, 1 + below(masks));
            queue.push(command);
            // Another head a moment later: it joins, or comes after the data has passed.
            if below(2) == 0 {
                cycle += below(60);
                queue.push(Command { cycle, mask: 1 + below(masks), ..command });
            }
        }
        queue.truncate(commands as usize);
    }
}

/// Cycles from one wave of a storm to the next.
const WAVE: u64 = 96;

fn storm(design: &Design, plan: &mut Plan, commands: u32, gap: u32, slices: u32, chunks: u32) {
    let mare = design.mare;
    let masks = (1_u64 << design.flit.mask_width()) - 1;
    let (window, period) = (u64::from(mare.coalesce_window), u64::from(mare.bloom_refresh));
    let latest = 2 * u64::from(mare.retry_cycles().1);
    let seed = plan.seed;
    let mut state = mix(seed);
    let mut below = |n: u64| {
        state = mix(state);
        (state >> 16) % n.max(1)
    };
    // In some storms all slices come late: then homes are asked for more than they park.
    let late = below(4) == 0;
    for resident in &mut plan.residents {
        if late {
            resident.cycle = latest;
        } else if below(2) == 0 {
            resident.cycle = 1 + below(latest);
        }
    }
    // Ranges have one chunk, or as many as the FIFO to the array holds, or part of one.
    let most = (mare.fifo_depth / mare.chunk_flits).min(chunks).max(1);
    let range = |of: u64, command: Command| {
        let chunks = if of.is_multiple_of(4) { most } else { 1 };
        let whole = command.first + chunks * mare.chunk_flits - 1;
        let last =
            if of.is_multiple_of(5) { command.first + (of / 5) as u32 % mare.chunk_flits } else { whole };
        Command { last: last.min(mare.slice_flits - 1), ..command }
    };
    for queue in &mut plan.commands {
        let mut cycle = 0;
        while queue.len() < commands as usize {
            let waves = below(2) == 0;
            let drawn = if waves {
                // All tiles draw the same slice and range for a wave, and come within its window, or just behind it.
                let wave = cycle / WAVE + 1;
                cycle = wave * WAVE + below(window + 6);
                mix(seed ^ wave << 24)
            } else {
                cycle += below(2 * u64::from(gap) + 1);
                below(u64::MAX >> 17)
            };
            let (segment, c) = (drawn % u64::from(slices), (drawn >> 20) % u64::from(chunks.min(3)));
            let command = chunk(design, cycle, segment as u32, c as u32, 1 + below(masks));
            let command = range(drawn >> 30, command);
            queue.push(command);
            // The same again: at once, as the data come, behind the window, or in another refresh period.
            let later = [2, 40, window + 12, 3 * period + 20];
            for _ in 0..below(4) {
                let which = below(4) as usize;
                cycle += below(later[which]);
                queue.push(Command { cycle, mask: 1 + below(masks), ..command });
            }
        }
        queue.truncate(commands as usize);
    }
    plan.watchdog = plan.watchdog.max(4 * latest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn design() -> Design {
        Design::from_config("test", &Config::default()).unwrap()
    }

    #[test]
    fn a_broadcast_reaches_every_row_a_skew_later() {
        let design = design();
        let workload = Workload::Broadcast { slices: 8, chunks: 2, skew: 3, rotate: true };
        let plan = plan(&design, &workload, 1).unwrap();
        for tile in design.mesh.nodes() {
            let (x, y) = design.mesh.coords(tile);
            let commands = &plan.commands[tile.index()];
            assert_eq!(commands.len(), 16);
            assert!(commands.iter().all(|c| c.cycle == u64::from(3 * y)));
            assert_eq!(commands[0].slice.segment, x % 8);
        }
    }

    #[test]
    fn homes_are_those_of_the_placement() {
        let mut config = Config::default();
        config.takv.column_stride = 1;
        let design = Design::from_config("test", &config).unwrap();
        assert_eq!(design.mesh.coords(design.placement.home(0, 5)), (0, 5));
        assert_eq!(design.mesh.coords(design.placement.home(0, 8 * 3 + 2)), (3, 2));
    }

    #[test]
    fn what_the_fabric_cannot_hold_is_refused() {
        let design = design();
        let error = |workload| plan(&design, &workload, 1).unwrap_err().to_string();
        assert!(error(Workload::Slice { requesters: 64 }).contains("at most 63 others"));
        let broadcast = |slices, chunks| Workload::Broadcast { slices, chunks, skew: 1, rotate: false };
        assert!(error(broadcast(100_000, 1)).contains("segments a layer has"));
        let chunks = design.mare.slice_flits / design.mare.chunk_flits;
        assert!(error(broadcast(8, chunks + 1)).contains(&format!("{chunks} chunks")));
        assert!(error(broadcast(512, 1)).contains("homes hold"));
    }
}
