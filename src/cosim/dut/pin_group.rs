//! Groups of ports, looked up by name.

/// Declares a group of ports with the same number of parts, looked up by name.
macro_rules! group_pins {
    ($(#[$doc:meta])* $group:ident { $($name:ident)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(in $crate::cosim) struct $group {
            $(pub(in $crate::cosim) $name: $crate::cosim::dut::pins::Pin,)+
        }

        impl $group {
            /// Looks them up in the fabric of `top`.
            #[allow(dead_code)] // Some are always found by a prefix.
            pub(in $crate::cosim) fn find(pins: &mut $crate::cosim::dut::pins::Pins, top: &$crate::emit::ModuleSpec, parts: u32) -> Result<$group, $crate::cosim::dut::DutError> {
                $group::named(pins, top, "", parts)
            }

            /// Looks them up there, each name behind this prefix.
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
