//! Macros of synthesis for the card.

/// Macros that are defined wherever the fabric is synthesised for the card: by Vivado, under Vitis, by FuseSoC, and by Yosys
/// for the estimate. Simulators define none of them. `meshkv lint` compares the emitted files with this list.
pub const CARD_DEFINES: [&str; 1] = ["MESHKV_DSP48E2"];
