//! The output of the kernel printer.

use crate::support::kernel_block::block;
use meshkv::kernels::{body, signals, Dir};
use rust_hdl::prelude::*;

/// Lines of a body without the indentation that all of them share.
fn lines(block: &impl Block) -> Vec<String> {
    let text = body(block).unwrap();
    text.lines().map(|line| line.strip_prefix("        ").expect("indented for a shell").to_owned()).collect()
}

#[test]
fn signals_come_in_order_with_constants_in_capitals() {
    block!(Sample);
    impl Logic for Sample {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.p.val();
            self.sum.next = self.u.val();
        }
    }
    let found = signals(&Sample::default()).unwrap();
    let names: Vec<_> = found.iter().map(|s| (s.name.as_str(), s.dir, s.scalar)).collect();
    assert_eq!(
        names,
        [
            ("p", Dir::Input, true),
            ("q", Dir::Input, true),
            ("u", Dir::Input, false),
            ("v", Dir::Input, false),
            ("bit", Dir::Output, true),
            ("sum", Dir::Output, false),
            ("LIMIT", Dir::Constant, false),
        ]
    );
}

#[test]
fn every_nested_operation_is_bracketed() {
    block!(Nested);
    impl Logic for Nested {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next =
                self.p.val() ^ self.q.val() & !self.p.val() | !(self.u.val() & self.v.val()).any();
            self.sum.next = !self.u.val() - (self.v.val() + 1) - self.u.val();
        }
    }
    assert_eq!(
        lines(&Nested::default()),
        ["bit = (p ^ (q & !p)) | (!(|(u & v)));", "sum = (~u - (v + 1)) - u;"]
    );
}

#[test]
fn a_chain_of_one_associative_operator_needs_no_brackets_and_breaks_when_long() {
    block!(Chain);
    impl Logic for Chain {
        #[hdl_gen]
        fn update(&mut self) {
            self.bit.next = self.p.val() && self.q.val() && self.u.val().any() && (self.v.val() != 0);
            self.sum.next = (self.u.val() & self.v.val() & self.limit.val() & self.u.val())
                | (self.v.val() & self.u.val() & self.limit.val() & self.v.val())
                | (self.limit.val() & self.u.val() & self.v.val() & self.limit.val())
                | (self.v.val() & self.limit.val() & self.u.val() & self.v.val())
                | (self.u.val() & self.v.val() & self.v.val() & self.u.val());
        }
    }
    assert_eq!(
        lines(&Chain::default()),
        [
            "bit = p && q && (|u) && (v != 0);",
            "sum = (u & v & LIMIT & u)",
            "    | (v & u & LIMIT & v)",
            "    | (LIMIT & u & v & LIMIT)",
            "    | (v & LIMIT & u & v)",
            "    | (u & v & v & u);",
        ]
    );
}

#[test]
fn conditions_nest_and_chain() {
    block!(Branches);
    impl Logic for Branches {
        #[hdl_gen]
        fn update(&mut self) {
            self.sum.next = 0.into();
            if self.p.val() {
                if self.q.val() {
                    self.sum.next = 1.into();
                }
                self.bit.next = true;
            } else if self.u.val() == self.limit.val() {
                self.bit.next = false;
            } else {
                self.bit.next = self.q.val();
            }
        }
    }
    assert_eq!(
        lines(&Branches::default()),
        [
            "sum = 0;",
            "if (p) begin",
            "    if (q) begin",
            "        sum = 1;",
            "    end",
            "    bit = 1'b1;",
            "end else if (u == LIMIT) begin",
            "    bit = 1'b0;",
            "end else begin",
            "    bit = q;",
            "end",
        ]
    );
}
