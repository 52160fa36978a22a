//! Groups of ports that are found by name.

/// A group of ports of the same number of parts, found by name.
macro_rules! group_pins {
    ($(#[$doc:meta])* $group:ident { $($name:ident)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(in $crate::cosim) struct $group {
            $(pub(in $crate::cosim) $name: $crate::cosim::dut::pins::Pin,)+
        }

        impl $group {
            /// Finds them in the fabric of `top`.
            #[allow(dead_code)] // Some are always found by a prefix.
            pub(in $crate::cosim) fn find(pins: &mut $crate::cosim::dut::pins::Pins, top: &$crate::emit::ModuleSpec, parts: u32) -> Result<$group, $crate::cosim::dut::DutError> {
                $group::named(pins, top, "", parts)
            }

            /// Finds them there, each name after this prefix.
            pub(in $crate::cosim) fn named(
                pins: &mut $crate::cosim::dut::pins::Pins,
                top: &$crate::emit::ModuleSpec,
                prefix: &str,
                parts: u32,
            ) -> Result<$group, $crate::cosim::dut::DutError> {
                Ok($group { $($name: pins.pin(top, &format!("{prefix}{}", stringify!($name)), parts)?,)+ })
            }
        }
    };
}
pub(in crate::cosim) use group_pins;
