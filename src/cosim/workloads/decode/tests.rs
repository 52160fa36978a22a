//! Tests of the ledger with the events of a correct fabric, and with one event changed.

use super::scoreboard::expected::{needs, Need};
use super::scoreboard::ledger::DecodeScoreboard;
use super::scoreboard::part_packets::{part_flits, Arrived, Part};
use super::scoreboard::tile_account::{Close, Job};
use super::*;
use crate::config::Config;
use crate::cosim::checks::violation::ViolationKind::{self, *};
use crate::cosim::memory::{Image, Shape};
use crate::cosim::workloads::shared::homes::Homes;
use crate::design::{flits_of_rows, Descriptor, Design, Mapping, NodeId, Sharing};

const IMAGE: Image = Image::Hash(4);

/// 3 x 2 tiles, 6 heads of 3 KV heads, segments of 8 tokens.
fn design() -> Design {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows) = (3, 2);
    (config.noc.flit_width, config.kv.segment_tokens, config.pe.head_dim) = (64, 8, 32);
    (config.model.layers, config.model.heads, config.model.kv_heads) = (4, 6, 3);
    (config.model.max_tokens, config.model.max_streams) = (256, 4);
    Design::from_config("test", &config).unwrap()
}

fn load() -> Workload {
    Workload {
        tokens: 43,
        batch: 2,
        prefix: 16,
        mapping: Mapping::StreamStriped,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 2,
        stride: 1,
        append: false,
    }
}

/// Events of a fabric.
#[derive(Debug, Clone, PartialEq)]
enum Event {
    Accept(Descriptor, usize),
    Swap(NodeId, NodeId, usize),
    Tell(NodeId, Job),
    Flit(NodeId, u64, u32, u64, Vec<u32>),
    Send(NodeId),
    Output(u32, u32, u32),
}
use Event::{Accept, Flit, Output, Send, Swap as Exchange, Tell};

fn data(design: &Design, need: &Need, index: u32) -> Vec<u32> {
    let slice = need.slice;
    let address = design.slice_address(slice.stream, slice.layer, slice.segment, slice.slice);
    let mut words = vec![0; 2];
    IMAGE.read(&Shape::of(design), address + u64::from(index) * 8, &mut words);
    words
}

/// All events of two steps; homes are exchanged between them.
fn events(design: &Design, load: &Workload) -> Vec<Event> {
    let made = step(design, load).unwrap();
    let (mut homes, mut events) = (Homes::new(design), Vec::new());
    for number in 0..2 {
        for d in &made.descriptors {
            events.push(Accept(*d, number));
            let needs = needs(design, &homes, d);
            let job = |n: &Need| Job {
                close: false,
                tag: n.slice.tag(design),
                mask: n.mask,
                stream: d.stream,
                streams: d.streams,
                rows: n.rows,
            };
            events.extend(needs.iter().map(|n| Tell(n.tile, job(n))));
            if d.close {
                let tag = needs[0].slice.tag(design);
                let close = Job {
                    close: true,
                    tag,
                    mask: u64::MAX,
                    stream: d.stream,
                    streams: d.streams,
                    rows: (0, 0),
                };
                events.extend(design.mesh.nodes().map(|tile| Tell(tile, close)));
            }
            for n in &needs {
                let of_need = flits_of_rows(design, n.rows).into_iter().flatten();
                let tag = n.slice.tag(design);
                events.extend(of_need.map(|i| Flit(n.tile, tag, i, n.mask, data(design, n, i))));
            }
            if d.close {
                events.extend(design.mesh.nodes().map(Send));
                let heads = 0..design.model.heads;
                let streams = d.stream..d.stream + d.streams;
                events.extend(
                    streams
                        .flat_map(|s| heads.clone().map(move |h| (s, h)))
                        .map(|(s, h)| Output(s, h, d.layer)),
                );
            }
        }
        let tiles: Vec<_> = design.mesh.nodes().collect();
        events.push(Exchange(tiles[0], tiles[5], number + 1));
        homes.swap(tiles[0], tiles[5]);
    }
    events
}

/// Passes the events to the ledger; `bend` may change the flits of PART.
fn play(
    design: &Design,
    events: &[Event],
    bend: &mut dyn FnMut(&Part, u32, &mut Vec<u32>) -> bool,
) -> Vec<ViolationKind> {
    let mut ledger = DecodeScoreboard::new(design, 9, Order::Slice);
    let mut closes: Vec<Vec<Close>> = design.mesh.nodes().map(|_| Vec::new()).collect();
    for (cycle, event) in (0..).zip(events) {
        match event {
            Accept(descriptor, step) => ledger.accepted(*descriptor, *step),
            Exchange(a, b, steps) => ledger.swapped(*a, *b, *steps),
            Tell(tile, job) => {
                if let Some(close) = ledger.told(cycle, *tile, job) {
                    closes[tile.index()].push(close);
                }
            }
            Flit(tile, tag, index, mask, data) => {
                ledger.delivered(cycle, *tile, (*tag, *index, *mask), data.iter().copied(), &IMAGE);
            }
            Send(tile) => {
                let sent: Vec<_> = closes[tile.index()].drain(..).flat_map(|close| close.parts).collect();
                for part in sent {
                    for index in 0..part_flits(design) {
                        let mut data = vec![0; 2];
                        part.payload(9, index, &mut data);
                        if !bend(&part, index, &mut data) {
                            continue;
                        }
                        let root = design.mesh.node(design.mesh.coords(*tile).0, 0).unwrap();
                        let (key, others, data) = (part.key, part.others, data.as_slice());
                        let (first, last) = (index == 0, index + 1 == part_flits(design));
                        ledger.reduced(cycle, Arrived { root, key, others, first, last, data });
                    }
                }
            }
            Output(stream, head, layer) => {
                ledger.output(cycle, (*stream, *head, *layer));
            }
        }
    }
    let done = (0..2).all(|step| ledger.is_done(step));
    let (count, list) = ledger.close();
    let kinds: Vec<_> = list.iter().map(|v| v.kind).collect();
    assert!(count > kinds.len() as u64 || done != kinds.contains(&Lost), "{list:?}");
    kinds
}

fn as_they_are(_: &Part, _: u32, _: &mut Vec<u32>) -> bool {
    true
}

#[test]
fn a_right_fabric_has_no_violation_whatever_it_is_asked() {
    let design = design();
    for mapping in [Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped] {
        for sharing in [Sharing::KvHead, Sharing::Segment] {
            for prefix in [0, 16, 43] {
                let load = Workload { mapping, sharing, prefix, ..load() };
                assert_eq!(play(&design, &events(&design, &load), &mut as_they_are), [], "{load:?}");
            }
        }
    }
}

/// Violations of a correct fabric after `bend` has changed its events.
fn bent(bend: impl FnOnce(&mut Vec<Event>)) -> Vec<ViolationKind> {
    let design = design();
    let mut all = events(&design, &load());
    bend(&mut all);
    play(&design, &all, &mut as_they_are)
}

fn position(events: &[Event], of: impl Fn(&Event) -> bool) -> usize {
    events.iter().position(of).expect("there is such an event")
}

#[test]
fn flits_that_are_wrong_have_a_name() {
    let is_flit = |e: &Event| matches!(e, Flit(..));
    let change = |how: fn(&mut Event)| {
        bent(|all| {
            let at = position(all, is_flit);
            how(&mut all[at]);
        })
    };
    let data = |e: &mut Event| {
        if let Flit(.., data) = e {
            data[0] ^= 1;
        }
    };
    assert_eq!(change(data), [Corrupt]);
    let mask = |e: &mut Event| {
        if let Flit(_, _, _, mask, _) = e {
            *mask ^= 4;
        }
    };
    assert_eq!(change(mask), [Corrupt]);
    let twice = bent(|all| {
        let at = position(all, is_flit);
        all.insert(at, all[at].clone());
    });
    assert_eq!(twice, [Duplicate]);
    let late = bent(|all| {
        let at = position(all, is_flit);
        all.swap(at, at + 1);
    });
    assert_eq!(late[0], OutOfOrder);
    let lost = bent(|all| {
        let at = all.iter().rposition(is_flit).unwrap();
        all.remove(at);
    });
    // Its tile never sends the packets that depend on it.
    assert_eq!(lost, [Lost]);
}

#[test]
fn jobs_that_are_wrong_have_a_name() {
    let is_job = |e: &Event| matches!(e, Tell(_, job) if !job.close);
    let change = |how: fn(&mut Job)| {
        bent(|all| {
            let at = position(all, is_job);
            if let Tell(_, job) = &mut all[at] {
                how(job);
            }
        })
    };
    assert_eq!(change(|job| job.mask ^= 4), [Corrupt]);
    assert_eq!(change(|job| job.rows.1 -= 1), [Corrupt]);
    assert_eq!(change(|job| job.streams += 1), [Corrupt]);
    let twice = bent(|all| {
        let at = position(all, is_job);
        all.insert(at, all[at].clone());
    });
    assert_eq!(twice, [Duplicate]);
    let lost = bent(|all| {
        let at = all.iter().rposition(is_job).unwrap();
        all.remove(at);
    });
    assert!(lost.contains(&Lost), "{lost:?}");
    let early = bent(|all| {
        let at = position(all, |e| matches!(e, Tell(_, job) if job.close));
        let close = all.remove(at);
        let first = position(all, is_job);
        all.insert(first + 1, close);
    });
    assert!(early.contains(&OutOfOrder), "{early:?}");
}

/// Heads may be closed one after the other; each only after its own slices.
#[test]
fn a_close_names_its_heads() {
    let split = |all: &mut Vec<Event>| {
        let mut at = 0;
        while at < all.len() {
            if let Tell(tile, job) = all[at].clone() {
                if job.close {
                    all[at] = Tell(tile, Job { mask: 1, ..job });
                    all.insert(at + 1, Tell(tile, Job { mask: !1, ..job }));
                    at += 1;
                }
            }
            at += 1;
        }
    };
    assert_eq!(bent(split), []);
    let lost = bent(|all| {
        split(all);
        let at = all.iter().rposition(|e| matches!(e, Tell(_, job) if job.close && job.mask != 1)).unwrap();
        all.remove(at);
    });
    assert!(lost.contains(&Lost), "{lost:?}");
}

#[test]
fn a_swap_that_only_some_have_seen_shows() {
    let kinds = bent(|all| all.retain(|e| !matches!(e, Exchange(..))));
    assert!(!kinds.is_empty(), "the tiles of the second step are others");
}

#[test]
fn outputs_that_are_wrong_have_a_name() {
    let is_output = |e: &Event| matches!(e, Output(..));
    let twice = bent(|all| {
        let at = all.iter().rposition(is_output).unwrap();
        all.insert(at, all[at].clone());
    });
    assert_eq!(twice, [Duplicate]);
    let lost = bent(|all| {
        let at = all.iter().rposition(is_output).unwrap();
        all.remove(at);
    });
    assert_eq!(lost, [Lost]);
    let other = bent(|all| {
        let at = all.iter().rposition(is_output).unwrap();
        if let Output(_, _, layer) = &mut all[at] {
            *layer += 1;
        }
    });
    assert_eq!(other, [Corrupt]);
}

#[test]
fn partial_results_that_are_wrong_have_a_name() {
    let design = design();
    let all = events(&design, &load());
    let mut count = 0;
    let mut first = |wanted: u32, how: fn(&mut Vec<u32>) -> bool| {
        count = 0;
        play(&design, &all, &mut |_, index, data| {
            let hit = index == wanted && count == 0;
            count += u32::from(hit);
            !hit || how(data)
        })
    };
    assert_eq!(
        first(1, |data| {
            data[0] ^= 1;
            true
        }),
        [Corrupt]
    );
    let lost = first(0, |_| false);
    assert_eq!(lost[0], Corrupt, "the second flit is not the first");
}
