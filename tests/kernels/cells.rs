//! Small sequential cells in rust-hdl: kernels together with the registers that their shells give them.
//!
//! Each cell runs over cycles, with inputs that are drawn, against the rule of its kernel and the state that the rule
//! gives. The registers are those of the shells in `templates/rtl`, reset included.

use meshkv::kernels::cells::{arbiter2, arbiter4, credit_counter, credit_pointers, round_robin};
use meshkv::kernels::{Arbiter2, Arbiter4, CreditCounter, CreditPointers};
use meshkv::model::cycle::common::Fifo;
use rust_hdl::prelude::*;

const CYCLES: u32 = 2000;

/// Numbers that are the same in every run: an LCG, of which the upper bits are used.
struct Draws(u64);

impl Draws {
    fn next(&mut self, bits: u32) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> (64 - bits)
    }

    fn bit(&mut self) -> bool {
        self.next(1) == 1
    }
}

/// Runs a cell for a cycle, whose inputs are set. `see` reads its outputs before the edge.
fn cycle<Cell: Block, Seen>(
    cell: &mut Cell,
    clock: impl Fn(&mut Cell) -> &mut Signal<In, Clock>,
    see: impl Fn(&Cell) -> Seen,
) -> Seen {
    clock(cell).next = Clock::from(false);
    assert!(simulate(cell, 20));
    let seen = see(cell);
    clock(cell).next = Clock::from(true);
    assert!(simulate(cell, 20));
    seen
}

/// `meshkv_read_credits`: a credit counter and its count.
#[derive(LogicBlock)]
struct CounterCell {
    clock: Signal<In, Clock>,
    rst: Signal<In, Bit>,
    wants: Signal<In, Bit>,
    returns: Signal<In, Bit>,
    takes: Signal<Out, Bit>,
    count: Signal<Out, Bits<3>>,
    counter: CreditCounter<3>,
    count_q: DFF<Bits<3>>,
    credits: Constant<Bits<3>>,
}

impl CounterCell {
    fn new(credits: u64) -> CounterCell {
        CounterCell {
            clock: Default::default(),
            rst: Default::default(),
            wants: Default::default(),
            returns: Default::default(),
            takes: Default::default(),
            count: Default::default(),
            counter: Default::default(),
            count_q: Default::default(),
            credits: Constant::new(credits.into()),
        }
    }
}

impl Logic for CounterCell {
    #[hdl_gen]
    fn update(&mut self) {
        self.count_q.clock.next = self.clock.val();
        self.counter.wants.next = self.wants.val();
        self.counter.returns.next = self.returns.val();
        self.counter.count_q.next = self.count_q.q.val();
        self.takes.next = self.counter.takes.val();
        self.count.next = self.count_q.q.val();
        self.count_q.d.next = self.counter.count_d.val();
        if self.rst.val() {
            self.count_q.d.next = self.credits.val();
        }
    }
}

#[test]
fn credits_are_lent_and_come_back_over_cycles_by_the_rule() {
    for all in 1..8_u32 {
        let (mut cell, mut draws) = (CounterCell::new(all.into()), Draws(u64::from(all)));
        cell.connect_all();
        let mut count = 0;
        for at in 0..CYCLES {
            let (rst, wants) = (at == 0 || draws.next(8) == 0, draws.bit());
            // The other side returns only what it was lent.
            let returns = draws.bit() && count < all;
            [cell.rst.next, cell.wants.next, cell.returns.next] = [rst, wants, returns];
            let seen = cycle(&mut cell, |c| &mut c.clock, |c| (c.takes.val(), u64::from(c.count.val())));
            if at > 0 {
                let (takes, next) = credit_counter::rule(count, wants, returns);
                assert_eq!(seen, (takes, count.into()), "cycle {at} of {all}");
                count = next;
            }
            count = if rst { all } else { count };
        }
    }
}

/// `meshkv_fifo` of three words: the counter counts them, two pointers go round.
#[derive(LogicBlock)]
struct FifoCell {
    clock: Signal<In, Clock>,
    rst: Signal<In, Bit>,
    s_valid: Signal<In, Bit>,
    s_ready: Signal<Out, Bit>,
    s_data: Signal<In, Bits<4>>,
    m_valid: Signal<Out, Bit>,
    m_ready: Signal<In, Bit>,
    m_data: Signal<Out, Bits<4>>,
    pushes: Signal<Local, Bit>,
    counter: CreditCounter<2>,
    count_q: DFF<Bits<2>>,
    head_q: DFF<Bits<2>>,
    tail_q: DFF<Bits<2>>,
    word_a: DFF<Bits<4>>,
    word_b: DFF<Bits<4>>,
    word_c: DFF<Bits<4>>,
    last: Constant<Bits<2>>,
    depth: Constant<Bits<2>>,
}

impl Default for FifoCell {
    fn default() -> FifoCell {
        FifoCell {
            clock: Default::default(),
            rst: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            s_data: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            m_data: Default::default(),
            pushes: Default::default(),
            counter: Default::default(),
            count_q: Default::default(),
            head_q: Default::default(),
            tail_q: Default::default(),
            word_a: Default::default(),
            word_b: Default::default(),
            word_c: Default::default(),
            last: Constant::new(2.into()),
            depth: Constant::new(3.into()),
        }
    }
}

impl Logic for FifoCell {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, head_q, tail_q, word_a, word_b, word_c);
        self.count_q.clock.next = self.clock.val();
        self.s_ready.next = self.count_q.q.val() != self.depth.val();
        self.m_valid.next = self.count_q.q.val().any();
        self.pushes.next = self.s_valid.val() & self.s_ready.val();
        self.counter.wants.next = self.m_ready.val();
        self.counter.returns.next = self.pushes.val();
        self.counter.count_q.next = self.count_q.q.val();
        self.count_q.d.next = self.counter.count_d.val();
        if self.head_q.q.val() == 0 {
            self.m_data.next = self.word_a.q.val();
        } else if self.head_q.q.val() == self.last.val() {
            self.m_data.next = self.word_c.q.val();
        } else {
            self.m_data.next = self.word_b.q.val();
        }
        if self.pushes.val() {
            if self.tail_q.q.val() == 0 {
                self.word_a.d.next = self.s_data.val();
            } else if self.tail_q.q.val() == self.last.val() {
                self.word_c.d.next = self.s_data.val();
            } else {
                self.word_b.d.next = self.s_data.val();
            }
            self.tail_q.d.next = self.tail_q.q.val() + 1;
            if self.tail_q.q.val() == self.last.val() {
                self.tail_q.d.next = 0.into();
            }
        }
        if self.counter.takes.val() {
            self.head_q.d.next = self.head_q.q.val() + 1;
            if self.head_q.q.val() == self.last.val() {
                self.head_q.d.next = 0.into();
            }
        }
        if self.rst.val() {
            self.head_q.d.next = 0.into();
            self.tail_q.d.next = 0.into();
            self.count_q.d.next = 0.into();
        }
    }
}

#[test]
fn words_leave_a_fifo_in_order_as_its_model_and_the_rule_of_the_counter_say() {
    let (mut cell, mut draws) = (FifoCell::default(), Draws(3));
    cell.connect_all();
    let (mut model, mut count, mut moved) = (Fifo::new(3), 0, 0);
    for at in 0..CYCLES {
        let (rst, s_valid, m_ready) = (at == 0 || draws.next(8) == 0, draws.bit(), draws.bit());
        let word = draws.next(4);
        [cell.rst.next, cell.s_valid.next, cell.m_ready.next] = [rst, s_valid, m_ready];
        cell.s_data.next = word.into();
        let seen = cycle(
            &mut cell,
            |c| &mut c.clock,
            |c| (c.s_ready.val(), c.m_valid.val(), u64::from(c.m_data.val())),
        );
        if at > 0 {
            let (s_ready, front) = (model.has_room(), model.front().copied());
            assert_eq!((seen.0, seen.1), (s_ready, front.is_some()), "cycle {at}");
            assert_eq!(seen.2, front.unwrap_or(seen.2), "cycle {at}");
            let takes;
            (takes, count) = credit_counter::rule(count, m_ready, s_valid && s_ready);
            assert_eq!(takes, m_ready && front.is_some(), "cycle {at}");
            if takes {
                model.pop();
                moved += 1;
            }
            if s_valid && s_ready {
                model.push(word);
            }
            assert_eq!(model.len(), count as usize, "cycle {at}");
        }
        if rst {
            (model, count) = (Fifo::new(3), 0);
        }
    }
    assert!(moved > CYCLES / 4, "{moved}");
}

/// `meshkv_arbiter2`: the pointer prefers the request that was not granted last.
#[derive(LogicBlock, Default)]
struct Arbiter2Cell {
    clock: Signal<In, Clock>,
    rst: Signal<In, Bit>,
    r0: Signal<In, Bit>,
    r1: Signal<In, Bit>,
    used: Signal<In, Bit>,
    g0: Signal<Out, Bit>,
    g1: Signal<Out, Bit>,
    arbiter: Arbiter2,
    ptr_q: DFF<Bit>,
}

impl Logic for Arbiter2Cell {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, ptr_q);
        self.arbiter.r0.next = self.r0.val();
        self.arbiter.r1.next = self.r1.val();
        self.arbiter.ptr_q.next = self.ptr_q.q.val();
        self.g0.next = self.arbiter.g0.val();
        self.g1.next = self.arbiter.g1.val();
        if (self.r0.val() | self.r1.val()) & self.used.val() {
            self.ptr_q.d.next = self.arbiter.g0.val();
        }
        if self.rst.val() {
            self.ptr_q.d.next = false;
        }
    }
}

/// `meshkv_arbiter4`: the request after the granted one is preferred next.
#[derive(LogicBlock, Default)]
struct Arbiter4Cell {
    clock: Signal<In, Clock>,
    rst: Signal<In, Bit>,
    r0: Signal<In, Bit>,
    r1: Signal<In, Bit>,
    r2: Signal<In, Bit>,
    r3: Signal<In, Bit>,
    used: Signal<In, Bit>,
    g0: Signal<Out, Bit>,
    g1: Signal<Out, Bit>,
    g2: Signal<Out, Bit>,
    g3: Signal<Out, Bit>,
    arbiter: Arbiter4,
    ptr1_q: DFF<Bit>,
    ptr0_q: DFF<Bit>,
}

impl Logic for Arbiter4Cell {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, ptr1_q, ptr0_q);
        self.arbiter.r0.next = self.r0.val();
        self.arbiter.r1.next = self.r1.val();
        self.arbiter.r2.next = self.r2.val();
        self.arbiter.r3.next = self.r3.val();
        self.arbiter.ptr1_q.next = self.ptr1_q.q.val();
        self.arbiter.ptr0_q.next = self.ptr0_q.q.val();
        self.g0.next = self.arbiter.g0.val();
        self.g1.next = self.arbiter.g1.val();
        self.g2.next = self.arbiter.g2.val();
        self.g3.next = self.arbiter.g3.val();
        if (self.r0.val() | self.r1.val() | self.r2.val() | self.r3.val()) & self.used.val() {
            self.ptr1_q.d.next = self.arbiter.g1.val() | self.arbiter.g2.val();
            self.ptr0_q.d.next = self.arbiter.g0.val() | self.arbiter.g2.val();
        }
        if self.rst.val() {
            self.ptr1_q.d.next = false;
            self.ptr0_q.d.next = false;
        }
    }
}

/// Draws requests of `INPUTS` sides, and compares the grants that `step` returns for them with `rule`.
fn assert_takes_turns<const INPUTS: u8>(rule: fn(u8, u8) -> u8, mut step: impl FnMut(bool, u8, bool) -> u8) {
    let (mut draws, mut ptr) = (Draws(u64::from(INPUTS)), 0);
    for at in 0..CYCLES {
        let (rst, used) = (at == 0 || draws.next(8) == 0, draws.next(2) != 0);
        let requests = draws.next(INPUTS.into()) as u8;
        let granted = step(rst, requests, used);
        let winner = (requests != 0).then(|| rule(requests, ptr));
        if at > 0 {
            assert_eq!(granted, winner.map_or(0, |winner| 1 << winner), "cycle {at} requests {requests:04b}");
        }
        ptr = match winner {
            _ if rst => 0,
            Some(winner) if used => round_robin::next::<INPUTS>(winner),
            _ => ptr,
        };
    }
}

#[test]
fn two_requests_take_turns_over_cycles_by_the_rule() {
    let mut cell = Arbiter2Cell::default();
    cell.connect_all();
    assert_takes_turns::<2>(arbiter2::rule, |rst, requests, used| {
        [cell.rst.next, cell.used.next] = [rst, used];
        [cell.r0.next, cell.r1.next] = [0, 1].map(|i| requests >> i & 1 == 1);
        let grants = cycle(&mut cell, |c| &mut c.clock, |c| [c.g0.val(), c.g1.val()]);
        grants.iter().rev().fold(0, |all, &grant| all << 1 | u8::from(grant))
    });
}

#[test]
fn four_requests_take_turns_over_cycles_by_the_rule() {
    let mut cell = Arbiter4Cell::default();
    cell.connect_all();
    assert_takes_turns::<4>(arbiter4::rule, |rst, requests, used| {
        [cell.rst.next, cell.used.next] = [rst, used];
        [cell.r0.next, cell.r1.next, cell.r2.next, cell.r3.next] =
            [0, 1, 2, 3].map(|i| requests >> i & 1 == 1);
        let grants = cycle(&mut cell, |c| &mut c.clock, |c| [c.g0.val(), c.g1.val(), c.g2.val(), c.g3.val()]);
        grants.iter().rev().fold(0, |all, &grant| all << 1 | u8::from(grant))
    });
}

/// `meshkv_credit_pointers`: two pointers into the ring of slots say whether a send would take the last credit. The
/// ring is a binary count here.
#[derive(LogicBlock)]
struct CreditCell {
    clock: Signal<In, Clock>,
    rst: Signal<In, Bit>,
    send: Signal<In, Bit>,
    credit: Signal<In, Bit>,
    available: Signal<Out, Bit>,
    fill_next: Signal<Local, Bits<3>>,
    free_next: Signal<Local, Bits<3>>,
    pointers: CreditPointers,
    available_q: DFF<Bit>,
    fill_q: DFF<Bits<3>>,
    free_q: DFF<Bits<3>>,
    last: Constant<Bits<3>>,
}

impl CreditCell {
    fn new(depth: u8) -> CreditCell {
        CreditCell {
            clock: Default::default(),
            rst: Default::default(),
            send: Default::default(),
            credit: Default::default(),
            available: Default::default(),
            fill_next: Default::default(),
            free_next: Default::default(),
            pointers: Default::default(),
            available_q: Default::default(),
            fill_q: Default::default(),
            free_q: Default::default(),
            last: Constant::new(u64::from(depth - 1).into()),
        }
    }
}

impl Logic for CreditCell {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, available_q, fill_q, free_q);
        self.fill_next.next = self.fill_q.q.val() + 1;
        if self.fill_q.q.val() == self.last.val() {
            self.fill_next.next = 0.into();
        }
        self.free_next.next = self.free_q.q.val() + 1;
        if self.free_q.q.val() == self.last.val() {
            self.free_next.next = 0.into();
        }
        self.pointers.available_q.next = self.available_q.q.val();
        self.pointers.send.next = self.send.val();
        self.pointers.credit.next = self.credit.val();
        self.pointers.exhausted.next = self.fill_next.val() == self.free_q.q.val();
        self.available.next = self.available_q.q.val();
        self.available_q.d.next = self.pointers.available_d.val();
        if self.send.val() {
            self.fill_q.d.next = self.fill_next.val();
        }
        if self.credit.val() {
            self.free_q.d.next = self.free_next.val();
        }
        if self.rst.val() {
            self.available_q.d.next = true;
            self.fill_q.d.next = 0.into();
            self.free_q.d.next = 0.into();
        }
    }
}

#[test]
fn a_credit_is_available_over_cycles_while_the_rule_leaves_any() {
    for depth in 2..=8_u8 {
        let (mut cell, mut draws) = (CreditCell::new(depth), Draws(u64::from(depth)));
        cell.connect_all();
        let mut credits = 0;
        for at in 0..CYCLES {
            let rst = at == 0 || draws.next(8) == 0;
            // A sender has a credit and a receiver returns what it was lent. Each has its busy times.
            let busy = at / 32 % 2 == 0;
            let send = (draws.bit() || busy) && credits > 0;
            let credit = (draws.bit() || !busy) && credits < depth && at > 0;
            [cell.rst.next, cell.send.next, cell.credit.next] = [rst, send, credit];
            let available = cycle(&mut cell, |c| &mut c.clock, |c| c.available.val());
            if at > 0 {
                assert_eq!(available, credits > 0, "cycle {at} of depth {depth}");
            }
            credits = if rst { depth } else { credit_pointers::rule(credits, send, credit) };
        }
    }
}
