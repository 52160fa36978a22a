//! A trace that breaks a rule, for every rule; and one that breaks none.

use super::signals::RESET_PERIODS;
use super::*;
use crate::cosim::checks::violation::Violations;

#[path = "lite_tests.rs"]
mod lite;

const LIMITS: Limits = Limits { beat_bytes: 8, beats: 16, unique_ids: true };

fn request(id: u32, address: u64, beats: u32) -> Request {
    Request { id, address, len: beats - 1, size: 3, burst: 1 }
}

fn beat(id: u32, last: bool) -> Beat {
    Beat { id, response: OKAY, last, data: vec![7, 8] }
}

fn data(last: bool) -> WriteBeat {
    WriteBeat { data: vec![7, 8], strobes: 0xff, last }
}

fn response(id: u32) -> WriteResponse {
    WriteResponse { id, response: OKAY }
}

fn wires<T>(shown: Option<T>, ready: bool) -> Wires<T> {
    Wires { shown, ready }
}

/// A period of a read interface: request and beat on the wires.
type ReadPeriod = (Option<Request>, Option<Beat>);
/// A period of a write interface.
type WritePeriod = (Option<Request>, Option<WriteBeat>, Option<WriteResponse>);

fn asked(of: Request) -> ReadPeriod {
    (Some(of), None)
}

fn given(of: Beat) -> ReadPeriod {
    (None, Some(of))
}

fn texts(violations: &Violations) -> String {
    violations.first.iter().map(|v| v.message.clone() + "\n").collect()
}

/// Findings in periods of reads; `ready` of each channel holds in all of them.
fn reads(periods: Vec<ReadPeriod>, ready: (bool, bool)) -> String {
    let (mut rules, mut violations) = (ReadRules::new("m_axi", LIMITS), Violations::default());
    for (cycle, (request, beat)) in periods.into_iter().enumerate() {
        let (request, beat) = (wires(request, ready.0), wires(beat.as_ref(), ready.1));
        rules.judge(cycle as u64, &request, &beat, &mut violations);
    }
    texts(&violations)
}

/// Findings in periods of writes.
fn writes(periods: Vec<WritePeriod>, ready: (bool, bool, bool)) -> String {
    let (mut rules, mut violations) = (WriteRules::new("m_axi", LIMITS), Violations::default());
    for (cycle, (request, beat, response)) in periods.into_iter().enumerate() {
        let (request, beat) = (wires(request, ready.0), wires(beat, ready.1));
        rules.judge(cycle as u64, &request, &beat, &wires(response, ready.2), &mut violations);
    }
    texts(&violations)
}

const TAKEN: (bool, bool) = (true, true);
const ALL_TAKEN: (bool, bool, bool) = (true, true, true);

/// Asserts that the finding names the rule, the channel and the cycle.
fn assert_found(found: &str, cycle: u64, channel: &str, words: &str) {
    let place = format!("cycle {cycle}: m_axi {channel}: ");
    assert!(found.lines().any(|l| l.starts_with(&place) && l.contains(words)), "{place}{words}: {found:?}");
}

#[test]
fn legal_reads_break_no_rule() {
    let periods = vec![
        asked(request(1, 0, 2)),
        (Some(request(2, 4096 - 128, 16)), Some(beat(1, false))),
        given(beat(2, false)),
        given(beat(1, true)),
        // Beats of different IDs take turns, and a free ID is reused.
        (Some(request(1, 64, 1)), Some(beat(2, false))),
        given(beat(1, true)),
    ];
    assert_eq!(reads(periods, TAKEN), "");
    let stays = vec![(Some(request(1, 0, 1)), None); 3];
    assert_eq!(reads(stays, (false, true)), "");
}

#[test]
fn legal_writes_break_no_rule() {
    let write = |r, w, b| (r, w, b);
    let periods = vec![
        write(Some(request(1, 0, 2)), Some(data(false)), None),
        write(Some(request(2, 64, 1)), Some(data(true)), None),
        write(None, Some(data(true)), Some(response(1))),
        write(Some(request(1, 128, 1)), None, Some(response(2))),
        write(None, Some(data(true)), None),
        write(None, None, Some(response(1))),
        // Data may lead its request.
        write(None, Some(data(false)), None),
        write(None, Some(data(true)), None),
        write(Some(request(3, 0, 2)), None, None),
        write(None, None, Some(response(3))),
    ];
    assert_eq!(writes(periods, ALL_TAKEN), "");
}

#[test]
fn a_burst_that_breaks_a_rule_is_named() {
    for (broken, words) in [
        (Request { burst: 0, ..request(0, 0, 2) }, "does not increment"),
        (Request { burst: 2, ..request(0, 0, 2) }, "does not increment"),
        (Request { burst: 3, ..request(0, 0, 2) }, "does not increment"),
        (Request { size: 2, ..request(0, 0, 2) }, "not as wide as the bus"),
        (Request { size: 4, ..request(0, 0, 2) }, "not as wide as the bus"),
        (request(0, 0, 17), "more than 16 beats"),
        (request(0, 4, 2), "inside a beat"),
        (request(0, 4096 - 8, 2), "border of 4 KiB"),
    ] {
        assert_found(&reads(vec![asked(broken)], TAKEN), 0, "AR", words);
        assert_found(&writes(vec![(Some(broken), None, None)], ALL_TAKEN), 0, "AW", words);
        // It is judged once, however long it stays.
        let stands = reads(vec![asked(broken); 3], (false, true));
        assert_eq!(stands.lines().count(), 1, "{stands}");
    }
}

#[test]
fn valid_and_what_it_says_stay_until_ready() {
    let changes = [
        Some(Request { id: 1, ..request(0, 0, 2) }),
        Some(request(0, 8, 2)),
        Some(request(0, 0, 3)),
        Some(Request { size: 2, ..request(0, 0, 2) }),
        Some(Request { burst: 0, ..request(0, 0, 2) }),
        None,
    ];
    for then in changes {
        let words = if then.is_none() { "is gone" } else { "has become" };
        let found = reads(vec![asked(request(0, 0, 2)), (then, None)], (false, true));
        assert_found(&found, 1, "AR", words);
        let found =
            writes(vec![(Some(request(0, 0, 2)), None, None), (then, None, None)], (false, true, true));
        assert_found(&found, 1, "AW", words);
    }
    let before = asked(request(0, 0, 2));
    for then in [
        None,
        Some(beat(0, true)),
        Some(Beat { data: vec![7, 9], ..beat(0, false) }),
        Some(Beat { response: SLAVE_ERROR, ..beat(0, false) }),
    ] {
        let found = reads(vec![before.clone(), given(beat(0, false)), (None, then)], (true, false));
        assert_found(&found, 2, "R", "was not taken and");
    }
    for then in [
        None,
        Some(data(true)),
        Some(WriteBeat { data: vec![9, 8], ..data(false) }),
        Some(WriteBeat { strobes: 1, ..data(false) }),
    ] {
        let found = writes(vec![(None, Some(data(false)), None), (None, then, None)], (true, false, true));
        assert_found(&found, 1, "W", "was not taken and");
    }
    for then in [None, Some(response(1)), Some(WriteResponse { response: SLAVE_ERROR, ..response(0) })] {
        let written = (Some(request(0, 0, 1)), Some(data(true)), None);
        let found = writes(
            vec![written.clone(), (None, None, Some(response(0))), (None, None, then)],
            (true, true, false),
        );
        assert_found(&found, 2, "B", "was not taken and");
    }
}

#[test]
fn beats_belong_to_requests_of_before() {
    for (periods, cycle) in [
        (vec![given(beat(0, true))], 0),
        (vec![(Some(request(0, 0, 1)), Some(beat(0, true)))], 0),
        (vec![asked(request(0, 0, 1)), given(beat(1, true))], 1),
        (vec![asked(request(0, 0, 1)), given(beat(0, true)), given(beat(0, true))], 2),
    ] {
        assert_found(&reads(periods, TAKEN), cycle, "R", "nothing was asked");
    }
}

#[test]
fn rlast_comes_with_the_last_beat() {
    let early = vec![asked(request(0, 0, 2)), given(beat(0, true))];
    assert_found(&reads(early, TAKEN), 1, "R", "RLAST is too early");
    let missing = vec![asked(request(0, 0, 2)), given(beat(0, false)), given(beat(0, false))];
    assert_found(&reads(missing, TAKEN), 2, "R", "RLAST is missing");
}

#[test]
fn bursts_of_one_id_are_answered_in_their_order() {
    let shared = Limits { unique_ids: false, ..LIMITS };
    let (mut rules, mut violations) = (ReadRules::new("m_axi", shared), Violations::default());
    let mut see = |(request, beat): ReadPeriod, cycle| {
        rules.judge(cycle, &wires(request, true), &wires(beat.as_ref(), true), &mut violations);
    };
    see(asked(request(0, 0, 2)), 0);
    see(asked(request(0, 64, 1)), 1);
    // The response to the second request comes first.
    see(given(beat(0, true)), 2);
    assert_found(&texts(&violations), 2, "R", "RLAST is too early");
    let again = vec![asked(request(0, 0, 1)), asked(request(0, 64, 1))];
    assert_found(&reads(again, TAKEN), 1, "AR", "second request");
    let again =
        vec![(Some(request(0, 0, 2)), Some(data(false)), None), (Some(request(0, 64, 2)), None, None)];
    assert_found(&writes(again, ALL_TAKEN), 1, "AW", "second request");
}

#[test]
fn wlast_comes_with_the_last_beat() {
    let asked = (Some(request(0, 0, 2)), None, None);
    let early = vec![asked.clone(), (None, Some(data(true)), None)];
    assert_found(&writes(early, ALL_TAKEN), 1, "W", "WLAST is set with beat 1 of 2");
    let missing = vec![asked.clone(), (None, Some(data(false)), None), (None, Some(data(false)), None)];
    assert_found(&writes(missing, ALL_TAKEN), 2, "W", "WLAST is not set with beat 2 of 2");
    let leads = vec![(None, Some(data(true)), None), asked];
    assert_found(&writes(leads, ALL_TAKEN), 1, "W", "WLAST is set with beat 1 of 2");
}

#[test]
fn a_response_follows_all_of_its_write() {
    let (asked, last) = (Some(request(0, 0, 2)), Some(data(true)));
    for (periods, cycle) in [
        (vec![(None, None, Some(response(0)))], 0),
        // With the last data, before it, and for data without a request.
        (vec![(asked, Some(data(false)), None), (None, last.clone(), Some(response(0)))], 1),
        (vec![(asked, Some(data(false)), None), (None, None, Some(response(0)))], 1),
        (vec![(None, last.clone(), None), (None, None, Some(response(0)))], 1),
        // Of another ID, and twice.
        (vec![(Some(request(0, 0, 1)), last.clone(), None), (None, None, Some(response(1)))], 1),
        (
            vec![
                (Some(request(0, 0, 1)), last, None),
                (None, None, Some(response(0))),
                (None, None, Some(response(0))),
            ],
            2,
        ),
    ] {
        assert_found(&writes(periods, ALL_TAKEN), cycle, "B", "no write of that ID is complete");
    }
}

#[test]
fn nobody_answers_exokay() {
    let read = Beat { response: EXCLUSIVE_OKAY, ..beat(0, true) };
    assert_found(&reads(vec![asked(request(0, 0, 1)), given(read)], TAKEN), 1, "R", "EXOKAY");
    let write = WriteResponse { response: EXCLUSIVE_OKAY, ..response(0) };
    let written = (Some(request(0, 0, 1)), Some(data(true)), None);
    assert_found(&writes(vec![written, (None, None, Some(write))], ALL_TAKEN), 1, "B", "EXOKAY");
}

#[test]
fn in_reset_every_valid_is_low() {
    let mut violations = Violations::default();
    let (mut reads, mut writes) = (ReadRules::new("m_axi", LIMITS), WriteRules::new("m_axi", LIMITS));
    let mut lite = LiteRules::new("m_axi");
    for cycle in 0..RESET_PERIODS {
        reads.in_reset(cycle, true, &mut violations);
    }
    assert_eq!(violations.count, 0, "a reset takes some periods to arrive");
    reads.in_reset(16, true, &mut violations);
    assert_found(&texts(&violations), 16, "AR", "not low in reset");
    for cycle in 0..=RESET_PERIODS {
        writes.in_reset(cycle, (true, cycle == RESET_PERIODS), &mut violations);
        lite.in_reset(cycle, (true, true), &mut violations);
    }
    for channel in ["AW", "W", "B", "R"] {
        assert_found(&texts(&violations), 16, channel, "not low in reset");
    }
    // A request from before the reset must not be answered after it.
    reads.judge(20, &wires(Some(request(0, 0, 1)), true), &wires(None, true), &mut violations);
    reads.in_reset(21, false, &mut violations);
    reads.judge(22, &wires(None, true), &wires(Some(&beat(0, true)), true), &mut violations);
    assert_found(&texts(&violations), 22, "R", "nothing was asked");
    assert_eq!((reads.outstanding(), writes.outstanding()), (0, 0));
}
