//! The block that the tests of the kernel printer vary.

/// Two bits and two vectors in, one of each out; the tests write its `update`.
macro_rules! block {
    ($name:ident) => {
        #[derive(LogicBlock)]
        struct $name {
            p: Signal<In, Bit>,
            q: Signal<In, Bit>,
            u: Signal<In, Bits<3>>,
            v: Signal<In, Bits<3>>,
            bit: Signal<Out, Bit>,
            sum: Signal<Out, Bits<3>>,
            limit: Constant<Bits<3>>,
        }

        impl Default for $name {
            fn default() -> Self {
                $name {
                    p: Default::default(),
                    q: Default::default(),
                    u: Default::default(),
                    v: Default::default(),
                    bit: Default::default(),
                    sum: Default::default(),
                    limit: Constant::new(5.into()),
                }
            }
        }
    };
}

pub(crate) use block;
