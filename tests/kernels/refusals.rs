//! Refusals of the kernel printer: each rule with the smallest block that breaks it.

use crate::support::kernel_block::block;
use meshkv::kernels::{body, PrintError};
use rust_hdl::prelude::*;

#[test]
fn a_number_other_than_0_and_1_is_refused() {
    block!(Two);
    impl Logic for Two {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.p.val();
            self.sum.next = self.u.val() + 2;
        }
    }
    assert_eq!(body(&Two::default()), Err(PrintError::Number { literal: "32'h2".to_owned() }));
}

#[test]
fn a_rust_constant_is_no_signal_and_the_message_names_it() {
    const FIVE: u64 = 5;
    block!(Named);
    impl Logic for Named {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.p.val();
            self.sum.next = self.u.val() + FIVE;
        }
    }
    let error = body(&Named::default()).unwrap_err();
    assert_eq!(error, PrintError::UnknownName { name: "FIVE".to_owned() });
    assert_eq!(
        error.to_string(),
        "`FIVE` is not a signal of the block; read with `.val()`, write with `.next`, make a number a Constant"
    );
}

#[test]
fn a_cast_a_slice_a_bit_and_a_shift_are_refused() {
    block!(Cast);
    impl Logic for Cast {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.p.val();
            self.sum.next = bit_cast::<3, 3>(self.u.val());
        }
    }
    block!(Slice);
    impl Logic for Slice {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.u.val().get_bits::<2>(1) == self.v.val().get_bits::<2>(0);
            self.sum.next = self.u.val();
        }
    }
    block!(Index);
    impl Logic for Index {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.u.val().get_bit(1);
            self.sum.next = self.u.val();
        }
    }
    block!(Replace);
    impl Logic for Replace {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.p.val();
            self.sum.next = self.u.val().replace_bit(1, self.p.val());
        }
    }
    block!(Shift);
    impl Logic for Shift {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.p.val();
            self.sum.next = self.u.val() << self.v.val();
        }
    }
    let refusals = [
        body(&Cast::default()),
        body(&Slice::default()),
        body(&Index::default()),
        body(&Replace::default()),
        body(&Shift::default()),
    ];
    let whats = ["a cast", "a slice", "a bit of a signal", "the replacement of a bit", "a shift"];
    assert_eq!(refusals, whats.map(|what| Err(PrintError::WidthDependent { what })));
}

#[test]
fn a_sum_may_not_be_compared_with_a_number_but_with_its_like() {
    block!(Wide);
    impl Logic for Wide {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.u.val() + 1 == self.limit.val();
            self.sum.next = self.u.val();
        }
    }
    block!(Complement);
    impl Logic for Complement {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = (!self.u.val() & self.limit.val()).all();
            self.sum.next = self.u.val();
        }
    }
    block!(Like);
    impl Logic for Like {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.u.val() + self.v.val() == !self.v.val();
            self.sum.next = self.u.val();
        }
    }
    let widening = |expression: &str| Err(PrintError::Widening { expression: expression.to_owned() });
    assert_eq!(body(&Wide::default()), widening("(u + 1) == LIMIT"));
    assert_eq!(body(&Complement::default()), widening("&(~u & LIMIT)"));
    assert!(body(&Like::default()).unwrap().contains("bit = (u + v) == ~v;"));
}

#[test]
fn an_output_that_a_path_leaves_alone_is_a_latch() {
    block!(Latch);
    impl Logic for Latch {
        #[hdl_gen]
        fn update(&mut self) {
            self.sum.next = self.u.val();
            if self.p.val() {
                self.bit.next = self.q.val();
            }
        }
    }
    assert_eq!(body(&Latch::default()), Err(PrintError::Latch { name: "bit".to_owned() }));
}

#[test]
fn an_output_is_read_only_after_its_last_write() {
    block!(Early);
    impl Logic for Early {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.sum.val().any();
            self.sum.next = self.u.val();
        }
    }
    block!(OneBranch);
    impl Logic for OneBranch {
        #[hdl_gen]
        fn update(&mut self) {
            if self.p.val() {
                self.sum.next = self.u.val();
            }
            self.bit.next = self.sum.val().any();
        }
    }
    block!(Late);
    impl Logic for Late {
        #[hdl_gen]
        fn update(&mut self) {
            self.sum.next = self.u.val();
            self.bit.next = self.sum.val().any();
            self.sum.next = self.v.val();
        }
    }
    let name = || "sum".to_owned();
    assert_eq!(body(&Early::default()), Err(PrintError::ReadBeforeWrite { name: name() }));
    assert_eq!(body(&OneBranch::default()), Err(PrintError::ReadBeforeWrite { name: name() }));
    assert_eq!(body(&Late::default()), Err(PrintError::WriteAfterRead { name: name() }));
}

#[test]
fn an_input_is_not_written() {
    block!(Backwards);
    impl Logic for Backwards {
        #[hdl_gen]
        fn update(&mut self) {
            self.p.next = self.q.val();
        }
    }
    assert_eq!(body(&Backwards::default()), Err(PrintError::WritesInput { name: "p".to_owned() }));
}

#[test]
fn inner_blocks_arrays_clocks_and_local_signals_belong_to_the_shell() {
    #[derive(LogicBlock, Default)]
    struct Inner {
        a: Signal<In, Bit>,
        b: Signal<Out, Bit>,
    }
    impl Logic for Inner {
        #[hdl_gen]
        fn update(&mut self) {
            self.b.next = self.a.val();
        }
    }
    #[derive(LogicBlock, Default)]
    struct Outer {
        a: Signal<In, Bit>,
        inner: Inner,
    }
    impl Logic for Outer {
        #[hdl_gen]
        fn update(&mut self) {
            self.inner.a.next = self.a.val();
        }
    }
    #[derive(LogicBlock, Default)]
    struct Array {
        a: [Signal<In, Bit>; 2],
        b: Signal<Out, Bit>,
    }
    impl Logic for Array {
        #[hdl_gen]
        fn update(&mut self) {
            self.b.next = self.a[0].val() & self.a[1].val();
        }
    }
    #[derive(LogicBlock, Default)]
    struct Clocked {
        clock: Signal<In, Clock>,
    }
    impl Logic for Clocked {
        #[hdl_gen]
        fn update(&mut self) {}
    }
    #[derive(LogicBlock, Default)]
    struct Hidden {
        between: Signal<Local, Bit>,
    }
    impl Logic for Hidden {
        #[hdl_gen]
        fn update(&mut self) {}
    }
    assert_eq!(body(&Outer::default()), Err(PrintError::Nested { name: "inner".to_owned() }));
    assert_eq!(body(&Array::default()), Err(PrintError::Nested { name: "a$0".to_owned() }));
    let unsupported = |name: &str, what: &str| {
        Err(PrintError::UnsupportedSignal { name: name.to_owned(), what: what.to_owned() })
    };
    assert_eq!(body(&Clocked::default()), unsupported("clock", "of type clock"));
    assert_eq!(body(&Hidden::default()), unsupported("between", "a local signal"));
}

#[test]
fn a_block_without_hdl_gen_is_refused() {
    #[derive(LogicBlock, Default)]
    struct Plain {
        a: Signal<Out, Bit>,
    }
    impl Logic for Plain {
        fn update(&mut self) {
            self.a.next = true;
        }
    }
    assert_eq!(body(&Plain::default()), Err(PrintError::NotCombinational));
}

#[test]
fn a_match_a_loop_and_a_comment_are_refused() {
    block!(Match);
    impl Logic for Match {
        #[hdl_gen]
        fn update(&mut self) {
            self.sum.next = self.u.val();
            match self.p.val() {
                true => self.bit.next = true,
                _ => self.bit.next = false,
            }
        }
    }
    block!(Loop);
    impl Logic for Loop {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.p.val();
            for _i in 0..2 {
                self.sum.next = self.u.val();
            }
        }
    }
    // rust-hdl finds the text between the quotes by their spacing, which compilers change.
    block!(Comment);
    impl Logic for Comment {
        #[hdl_gen]
        fn update(&mut self) {
            println!("why");
            self.bit.next = self.p.val();
            self.sum.next = self.u.val();
        }
    }
    assert_eq!(body(&Comment::default()), Err(PrintError::UnsupportedStatement { what: "a comment" }));
    assert_eq!(body(&Match::default()), Err(PrintError::UnsupportedStatement { what: "match" }));
    assert_eq!(body(&Loop::default()), Err(PrintError::UnsupportedStatement { what: "a for loop" }));
}
