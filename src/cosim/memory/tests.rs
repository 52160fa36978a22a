use super::axi::Request;
use super::*;
use std::ops::Range;

const SHAPE: Shape = Shape {
    ports: 2,
    flit_bytes: 64,
    burst_flits: 16,
    slice_bytes: 32_768,
    regions: 1,
    slices: 8,
    region_width: 18,
    local_width: 3,
};

fn calm() -> Behaviour {
    Behaviour {
        bytes_per_cycle: 64.0,
        refresh: None,
        layout: Layout::OfPort,
        latency: 10,
        jitter: 0,
        reorder: false,
        interleave: false,
        outstanding: 64,
        request_stall: 0,
        beat_gap: 0,
        faults: Vec::new(),
        seed: 1,
    }
}

fn request(id: u32, address: u64, beats: u32) -> Request {
    Request { id, address, len: beats - 1, size: 6, burst: 1 }
}

/// A beat that was taken: cycle, ID, response, last and data.
type Taken = (u64, u32, u32, bool, Vec<u32>);

/// Runs a master at port 0 that sends its requests one after the other. It takes every beat, but
/// none in every `lazy`-th cycle.
fn run(memory: &mut Memory, requests: &[Request], cycles: u64, lazy: u64) -> Vec<Taken> {
    let mut queue = requests.iter().copied();
    let mut front = queue.next();
    let mut taken = Vec::new();
    for cycle in 0..cycles {
        let offer = memory.drive(0, cycle);
        let (accepts, beat) = (offer.request_ready, offer.beat.cloned());
        let ready = lazy == 0 || cycle % lazy != 0;
        if let Some(b) = beat.filter(|_| ready) {
            taken.push((cycle, b.id, b.response, b.last, b.data));
        }
        memory.observe(0, cycle, front, ready);
        if accepts {
            front = queue.next();
        }
    }
    taken
}

fn expected(request: &Request) -> Vec<Vec<u32>> {
    (0..=request.len)
        .map(|beat| {
            let mut words = vec![0; 16];
            Image::Hash(5).read(&SHAPE, request.address + 64 * u64::from(beat), &mut words);
            words
        })
        .collect()
}

fn messages(memory: &Memory) -> String {
    memory.violations().1.iter().map(|v| v.message.clone() + "\n").collect()
}

#[test]
fn a_burst_comes_after_the_latency_a_beat_a_cycle() {
    let mut memory = Memory::new(SHAPE, calm(), Image::Hash(5));
    let burst = request(3, 4096, 4);
    let taken = run(&mut memory, &[burst], 30, 0);
    let cycles: Vec<_> = taken.iter().map(|t| t.0).collect();
    assert_eq!(cycles, [10, 11, 12, 13]);
    assert!(taken.iter().all(|t| (t.1, t.2) == (3, 0)));
    assert_eq!(taken.iter().map(|t| t.3).collect::<Vec<_>>(), [false, false, false, true]);
    assert_eq!(taken.into_iter().map(|t| t.4).collect::<Vec<_>>(), expected(&burst));
    assert_eq!(memory.counts(0), PortCounts { requests: 1, beats: 4, refused: 0 });
    assert_eq!((memory.violations().0, memory.waiting()), (0, 0));
}

#[test]
fn bandwidth_is_kept_over_time_and_not_saved_up() {
    let mut memory = Memory::new(SHAPE, Behaviour { bytes_per_cycle: 24.0, ..calm() }, Image::Hash(5));
    let requests: Vec<_> = (0..8).map(|i| request(i, u64::from(i) * 1024, 16)).collect();
    let taken = run(&mut memory, &requests, 2000, 0);
    assert_eq!(taken.len(), 128);
    let span = taken[127].0 - taken[0].0;
    // 127 beats of 64 bytes at 24 bytes a cycle are 338.7 cycles.
    assert!((337..=340).contains(&span), "{span}");
}

#[test]
fn beats_wait_until_they_are_taken() {
    let mut memory = Memory::new(SHAPE, calm(), Image::Hash(5));
    let requests: Vec<_> = (0..8).map(|i| request(i, u64::from(i) * 1024, 16)).collect();
    let taken = run(&mut memory, &requests, 400, 3);
    let data: Vec<_> = taken.into_iter().map(|t| t.4).collect();
    assert_eq!(data, requests.iter().flat_map(expected).collect::<Vec<_>>());
    assert!(memory.counts(0).refused > 0);
}

/// Each ID got the data of its requests, in their order, whatever the order between IDs.
fn bursts_by_id(taken: &[Taken], requests: &[Request]) {
    for id in requests.iter().map(|r| r.id) {
        let got: Vec<_> = taken.iter().filter(|t| t.1 == id).map(|t| t.4.clone()).collect();
        let wanted: Vec<_> = requests.iter().filter(|r| r.id == id).flat_map(expected).collect();
        assert_eq!(got, wanted, "ID {id}");
    }
}

#[test]
fn ids_overtake_each_other_but_not_themselves() {
    let requests: Vec<_> = (0..12).map(|i| request(i % 6, u64::from(i) * 1024, 8)).collect();
    let by_id = |taken: &[Taken]| taken.iter().map(|t| t.1).collect::<Vec<_>>();
    for interleave in [false, true] {
        let unruly = Behaviour { interleave, ..calm().unruly(7) };
        let mut memory = Memory::new(SHAPE, unruly, Image::Hash(5));
        let taken = run(&mut memory, &requests, 3000, 4);
        bursts_by_id(&taken, &requests);
        let ids = by_id(&taken);
        let in_order: Vec<_> = requests.iter().flat_map(|r| [r.id; 8]).collect();
        assert_ne!(ids, in_order, "something was reordered");
        let whole = ids.chunks(8).all(|burst| burst.iter().all(|id| *id == burst[0]));
        assert_eq!(whole, !interleave);
    }
}

#[test]
fn a_full_port_takes_no_more() {
    let mut memory = Memory::new(SHAPE, Behaviour { outstanding: 2, ..calm() }, Image::Hash(5));
    let requests: Vec<_> = (0..4).map(|i| request(i, u64::from(i) * 1024, 1)).collect();
    let taken = run(&mut memory, &requests, 60, 0);
    assert_eq!(taken.iter().map(|t| t.0).collect::<Vec<_>>(), [10, 11, 21, 22]);
}

#[test]
fn faults_show_where_they_are_told_to() {
    let fault = |addresses: Range<u64>, kind| Behaviour {
        faults: vec![Fault { addresses, ..Fault::of_port(0, kind) }],
        ..calm()
    };
    let bursts = [request(0, 0, 2), request(1, 1024, 2)];
    let responses = |behaviour| {
        let mut memory = Memory::new(SHAPE, behaviour, Image::Hash(5));
        let taken = run(&mut memory, &bursts, 300, 0);
        assert_eq!(messages(&memory), "");
        taken.into_iter().map(|t| (t.1, t.2)).collect::<Vec<_>>()
    };
    assert_eq!(responses(fault(64..128, FaultKind::SlaveError)), [(0, 0), (0, 2), (1, 0), (1, 0)]);
    assert_eq!(responses(fault(1024..2048, FaultKind::DecodeError)), [(0, 0), (0, 0), (1, 3), (1, 3)]);
    assert_eq!(responses(fault(0..64, FaultKind::Mute)), [(1, 0), (1, 0)]);
    assert_eq!(responses(fault(0..64, FaultKind::Late(200))).len(), 4);
    assert_eq!(responses(fault(0..1, FaultKind::Deaf)), []);
    let elsewhere = Behaviour { faults: vec![Fault::of_port(1, FaultKind::Deaf)], ..calm() };
    assert_eq!(responses(elsewhere).len(), 4);
}

#[test]
fn where_nothing_is_there_is_an_error() {
    let image = Image::Slices([(0, vec![7; 32_768])].into());
    let mut memory = Memory::new(SHAPE, calm(), image);
    let taken = run(&mut memory, &[request(0, 0, 1), request(1, 32_768, 1)], 40, 0);
    assert_eq!(taken.iter().map(|t| t.2).collect::<Vec<_>>(), [0, 3]);
    assert_eq!(taken[0].4, [0x0707_0707; 16]);
}

#[test]
fn every_rule_that_a_master_breaks_is_named() {
    for (broken, words) in [
        (Request { burst: 0, ..request(0, 0, 2) }, "does not increment"),
        (Request { size: 5, ..request(0, 0, 2) }, "not as wide as the bus"),
        (request(0, 0, 17), "more than 16 beats"),
        (request(0, 32, 2), "inside a beat"),
        (request(0, 4096 - 64, 2), "border of 4 KiB"),
        (request(0, 8 * 32_768, 2), "outside the homes' regions"),
        (request(0, 32_768 - 64, 2), "leaves its slice"),
    ] {
        let mut memory = Memory::new(SHAPE, calm(), Image::Hash(5));
        run(&mut memory, &[broken], 60, 0);
        assert!(messages(&memory).contains(words), "{words}: {}", messages(&memory));
    }
}

#[test]
fn an_id_is_used_once_at_a_time() {
    let mut memory = Memory::new(SHAPE, calm(), Image::Hash(5));
    run(&mut memory, &[request(1, 0, 1), request(1, 1024, 1)], 60, 0);
    assert!(messages(&memory).contains("second request"), "{}", messages(&memory));
}

#[test]
fn a_request_stands_until_it_is_taken() {
    let deaf = Behaviour { faults: vec![Fault::of_port(0, FaultKind::Deaf)], ..calm() };
    for then in [None, Some(request(0, 64, 1))] {
        let mut memory = Memory::new(SHAPE, deaf.clone(), Image::Hash(5));
        for (cycle, shown) in [Some(request(0, 0, 1)), then].into_iter().enumerate() {
            memory.drive(0, cycle as u64);
            memory.observe(0, cycle as u64, shown, true);
        }
        assert!(messages(&memory).contains("was not taken and"), "{}", messages(&memory));
    }
}
