use super::*;
use crate::cosim::memory::{Base, Layout};

fn calm() -> Behaviour {
    Behaviour {
        bytes_per_cycle: 8.0,
        refresh: None,
        layout: Layout::OfPort,
        latency: 10,
        jitter: 0,
        reorder: false,
        interleave: false,
        outstanding: 4,
        request_stall: 0,
        beat_gap: 0,
        faults: Vec::new(),
        seed: 1,
    }
}

fn request(id: u32, address: u64, beats: u32) -> Request {
    Request { id, address, len: beats - 1, size: 3, burst: 1 }
}

fn beats(of: &Request) -> Vec<WriteBeat> {
    let beat = |at| WriteBeat { data: vec![of.address as u32, at], strobes: 0xff, last: at == of.len };
    (0..=of.len).map(beat).collect()
}

/// Runs a master that sends requests and data, and takes responses but in every `lazy`-th cycle.
fn run(io: &mut Io, requests: &[Request], cycles: u64, lazy: u64) -> Vec<(u64, WriteResponse)> {
    let Io { memory, buffers } = io;
    let (mut asks, mut data) = (requests.iter().copied(), requests.iter().flat_map(beats));
    let (mut ask, mut beat) = (asks.next(), data.next());
    let mut responses = Vec::new();
    for cycle in 0..cycles {
        let offer = memory.drive(cycle);
        let response_ready = lazy == 0 || cycle % lazy != 0;
        responses.extend(offer.response.filter(|_| response_ready).map(|r| (cycle, r)));
        memory.observe(cycle, Written { request: ask, beat: beat.clone(), response_ready }, buffers);
        ask = if offer.request_ready { asks.next() } else { ask };
        beat = if offer.data_ready { data.next() } else { beat };
    }
    responses
}

/// A slave with a buffer of a page.
struct Io {
    memory: WriteMemory,
    buffers: Bytes,
}

fn io(behaviour: Behaviour) -> Io {
    let of = Interface { name: "io".to_owned(), base: Base::One(0), unique_ids: false };
    let mut buffers = Bytes::default();
    buffers.put(0, vec![0; 4096]);
    Io { memory: WriteMemory::new(of, 0, 8, behaviour), buffers }
}

fn with(faults: Vec<Fault>) -> Behaviour {
    Behaviour { faults, ..calm() }
}

#[test]
fn a_write_is_answered_after_the_latency_and_in_the_buffer() {
    let mut memory = io(calm());
    let responses = run(&mut memory, &[request(3, 64, 2)], 30, 0);
    assert_eq!(responses, [(11, WriteResponse { id: 3, response: OKAY })]);
    let buffer = memory.buffers.at(0).unwrap();
    assert_eq!(buffer[56..80], [0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!((memory.memory.violations().0, memory.memory.waiting(), memory.memory.requests()), (0, 0, 1));
}

#[test]
fn a_reluctant_memory_takes_all_and_keeps_the_rules() {
    let requests: Vec<_> = (0..20).map(|i| request(i % 4, u64::from(i) * 128, 1 + i % 7)).collect();
    let mut calm_memory = io(calm());
    run(&mut calm_memory, &requests, 1000, 0);
    for seed in 1..20 {
        let mut memory = io(calm().unruly(seed));
        let responses = run(&mut memory, &requests, 4000, 3);
        assert_eq!((responses.len(), memory.memory.waiting()), (20, 0));
        assert_eq!(memory.memory.violations(), (0, &[][..]));
        assert_eq!(memory.buffers, calm_memory.buffers);
        let order: Vec<_> = responses.iter().map(|(_, r)| r.id).collect();
        assert_ne!(order, requests.iter().map(|r| r.id).collect::<Vec<_>>(), "something was reordered");
    }
}

#[test]
fn what_goes_wrong_goes_wrong_from_its_request_on() {
    let requests: Vec<_> = (0..3).map(|i| request(i, u64::from(i) * 128, 2)).collect();
    let responses = |kind, from| {
        let mut memory = io(with(vec![Fault::of_port(0, kind).after(from)]));
        let taken = run(&mut memory, &requests, 300, 0);
        assert_eq!(memory.memory.violations(), (0, &[][..]));
        (taken.into_iter().map(|(_, r)| (r.id, r.response)).collect::<Vec<_>>(), memory)
    };
    let (slave, memory) = responses(FaultKind::SlaveError, 1);
    assert_eq!(slave, [(0, OKAY), (1, SLAVE_ERROR), (2, SLAVE_ERROR)]);
    assert_eq!(memory.buffers.at(0).unwrap()[128..256], [0; 128], "what failed is not there");
    assert_eq!(responses(FaultKind::DecodeError, 2).0, [(0, OKAY), (1, OKAY), (2, DECODE_ERROR)]);
    assert_eq!(responses(FaultKind::Mute, 2).0.len(), 2);
    assert_eq!(responses(FaultKind::Deaf, 1).0.len(), 1);
    assert_eq!(responses(FaultKind::Shut, 0).0.len(), 0);
    assert_eq!(responses(FaultKind::Late(500), 1).0.len(), 1);
    let (late, mut memory) = responses(FaultKind::Shut, 0);
    memory.memory.set_faults(Vec::new());
    assert!(late.is_empty() && memory.memory.drive(300).data_ready, "it has recovered");
}

#[test]
fn a_write_into_no_buffer_is_found_and_refused() {
    let mut memory = io(calm());
    let responses = run(&mut memory, &[request(0, 4096, 1)], 30, 0);
    assert_eq!(responses[0].1.response, DECODE_ERROR);
    assert!(memory.memory.violations().1[0].message.contains("is in no buffer"));
}
