//! Delays of UltraScale+ cells and nets in nanoseconds, speed grade -2L at 0.85 V, each with its source.
//!
//! `docs/estimate.md` has the table with reasons. Sources:
//!
//! * RW: RapidWright's timing model of speed grade -2, `timing/ultrascaleplus/*.txt` in its repository.
//! * DS923: AMD's data sheet of Virtex UltraScale+, columns for -2 at 0.85 V; -2L is the same there.
//! * RPT: published reports of Vivado on routed designs of UltraScale+, named in `docs/estimate.md`.

/// LUT: input to output. RW has 150, 125, 100, 90, 50 and 35 ps for A1 to A6; their mean is 92 ps, this is A3.
pub(in crate::synth::timing) const LUT: f64 = 0.100;
/// LUT memory read through its slowest address pin: RW, A1 to O5; both outputs of a LUT share a RAM32M16.
pub(in crate::synth::timing) const LUT_RAM_READ: f64 = 0.165;
/// LUT memory or shift register: clock to output. RW, CLK to O6.
pub(in crate::synth::timing) const LUT_RAM_CLOCK: f64 = 0.312;
/// LUT memory or shift register: setup of data. RW, DI2.
pub(in crate::synth::timing) const LUT_RAM_DATA: f64 = 0.081;
/// LUT memory: setup of the write address. RW, WA1, the largest.
pub(in crate::synth::timing) const LUT_RAM_ADDRESS: f64 = 0.117;
/// LUT memory or shift register: setup of the write enable. RW, WE.
pub(in crate::synth::timing) const LUT_RAM_ENABLE: f64 = 0.180;

/// Wide multiplexer: data or select to output. RW, F7MUX S0 to OUT; F8 and F9 are taken to be the same.
pub(in crate::synth::timing) const MUX: f64 = 0.077;
/// Way out of a wide multiplexer to the fabric. RW, F7MUX OUT to BMUX.
pub(in crate::synth::timing) const MUX_OUT: f64 = 0.032;

/// Register: clock to output. RW, CLK to Q.
pub(in crate::synth::timing) const FF_CLOCK: f64 = 0.077;
/// Register: setup of data; negative. RW, CLK to D.
pub(in crate::synth::timing) const FF_DATA: f64 = -0.025;
/// Register: setup of the enable. RPT, -2: `Setup_HFF2_SLICEM_C_CE`.
pub(in crate::synth::timing) const FF_ENABLE: f64 = 0.061;
/// Register: setup of set, reset, clear or preset. RPT, -1: `Setup_HFF_SLICEL_C_R`.
pub(in crate::synth::timing) const FF_RESET: f64 = 0.072;

/// Carry: S of a place to O of the place that many higher. RW, the largest of CARRY8 for each distance.
pub(in crate::synth::timing) const CARRY_S_O: [f64; 8] =
    [0.065, 0.149, 0.184, 0.204, 0.237, 0.240, 0.238, 0.241];
/// Carry: S to CO. RW, as above.
pub(in crate::synth::timing) const CARRY_S_CO: [f64; 8] =
    [0.133, 0.159, 0.184, 0.213, 0.216, 0.214, 0.217, 0.199];
/// Carry: DI to O, as above; DI has no way to O of its own place.
pub(in crate::synth::timing) const CARRY_DI_O: [f64; 8] =
    [0.0, 0.147, 0.182, 0.186, 0.196, 0.208, 0.198, 0.211];
/// Carry: DI to CO, as above.
pub(in crate::synth::timing) const CARRY_DI_CO: [f64; 8] =
    [0.131, 0.157, 0.160, 0.182, 0.184, 0.173, 0.186, 0.140];
/// Carry: CI to O of a place. RW, CIN.
pub(in crate::synth::timing) const CARRY_CI_O: [f64; 8] =
    [0.056, 0.076, 0.067, 0.082, 0.086, 0.116, 0.103, 0.116];
/// Carry: CI to CO of a place. RW, CIN; the last place leads to the next CARRY8.
pub(in crate::synth::timing) const CARRY_CI_CO: [f64; 8] =
    [0.052, 0.042, 0.057, 0.060, 0.092, 0.077, 0.092, 0.023];
/// A carry that comes from the fabric instead of a carry below. RW, the most that AX is slower than CIN.
pub(in crate::synth::timing) const CARRY_INIT: f64 = 0.137;
/// Carry of a CARRY8 to the next: RW, CIN to CARRY8/CIN. A CARRY4 is half a CARRY8.
pub(in crate::synth::timing) const CARRY_CHAIN: f64 = 0.026;
/// A CARRY4 on the way of a carry through it: half of a CARRY8 with its dedicated net.
pub(in crate::synth::timing) const CARRY4_THROUGH: f64 = 0.025;
/// Way out of a carry's sum to the fabric. RW, CARRY8/O to AMUX.
pub(in crate::synth::timing) const CARRY_OUT: f64 = 0.030;

/// Block RAM: clock to data without output register. RW, the largest bit.
pub(in crate::synth::timing) const BRAM_CLOCK: f64 = 1.003;
/// Block RAM: clock to data with output register. RW.
pub(in crate::synth::timing) const BRAM_CLOCK_REGISTERED: f64 = 0.229;
/// Block RAM: setup of addresses. RW.
pub(in crate::synth::timing) const BRAM_ADDRESS: f64 = 0.383;
/// Block RAM: setup of data. RW.
pub(in crate::synth::timing) const BRAM_DATA: f64 = 0.313;
/// Block RAM: setup of enables, of write enables, and of what controls the output register. RW.
pub(in crate::synth::timing) const BRAM_ENABLE: f64 = 0.342;
/// Block RAM: setup of write enables. RW.
pub(in crate::synth::timing) const BRAM_WRITE: f64 = 0.394;
/// Block RAM: setup of enable and reset of the output register. RW, RSTREG; REGCE has 0.233.
pub(in crate::synth::timing) const BRAM_OUTPUT: f64 = 0.313;

/// UltraRAM: clock to data of port A and B without output register. RW.
pub(in crate::synth::timing) const URAM_CLOCK: [f64; 2] = [1.292, 2.059];
/// UltraRAM: clock to data of port A and B with output register. RW.
pub(in crate::synth::timing) const URAM_CLOCK_REGISTERED: [f64; 2] = [0.767, 0.698];
/// UltraRAM: setup of addresses without input register. RW, port A.
pub(in crate::synth::timing) const URAM_ADDRESS: f64 = 0.522;
/// UltraRAM: setup of data. RW, port A without error correction.
pub(in crate::synth::timing) const URAM_DATA: f64 = 0.536;
/// UltraRAM: setup of enables, write enables and all other controls. RW, BWE of port A, the largest of them.
pub(in crate::synth::timing) const URAM_CONTROL: f64 = 0.491;

/// DSP: setup of an input with a register. RPT (dump of a DSP48E2 in RapidWright): A to clk.
pub(in crate::synth::timing) const DSP_INPUT: f64 = 0.300;
/// DSP: setup of a clock enable. RPT, as above: CEA2.
pub(in crate::synth::timing) const DSP_ENABLE: f64 = 0.160;
/// DSP: pre-adder. DS923: 1/F of NOPIPELINEREG less 1/F of MULT_NOMREG.
pub(in crate::synth::timing) const DSP_PREADD: f64 = 0.601;
/// DSP: multiplier. RPT, -1: 0.737, times 645/775, the ratio of -1 to -2 in DS923.
pub(in crate::synth::timing) const DSP_MULTIPLY: f64 = 0.613;
/// DSP: arithmetic unit. DS923: 1/F of NOPIPELINEREG less 1/F of PREADD_NOADREG.
pub(in crate::synth::timing) const DSP_ALU: f64 = 0.669;
/// DSP: clock to P from register P. RPT: 0.347 of speed grade -1LV at 0.72 V, an upper bound.
pub(in crate::synth::timing) const DSP_CLOCK_P: f64 = 0.347;
/// DSP: clock of registers A and B to P through multiplier and arithmetic unit. RPT (dump): 1.69.
pub(in crate::synth::timing) const DSP_CLOCK_THROUGH: f64 = 1.690;
/// DSP: input B to P without any register. RPT (comment beside the dump's reader): 1.559.
pub(in crate::synth::timing) const DSP_THROUGH: f64 = 1.559;
/// DSP: least period with all registers. DS923, FMAX: 775 MHz.
pub(in crate::synth::timing) const DSP_PERIOD: f64 = 1.290;
/// DSP: least period without ADREG where the pre-adder is used. DS923, FMAX_PREADD_NOADREG: 565 MHz.
pub(in crate::synth::timing) const DSP_PERIOD_NO_ADREG: f64 = 1.770;
/// DSP: least period without MREG. DS923, FMAX_MULT_NOMREG: 544 MHz.
pub(in crate::synth::timing) const DSP_PERIOD_NO_MREG: f64 = 1.838;
/// DSP: least period without ADREG and MREG where the pre-adder is used. DS923, FMAX_NOPIPELINEREG: 410 MHz.
pub(in crate::synth::timing) const DSP_PERIOD_NO_PIPELINE: f64 = 2.439;

/// A net within a slice from a LUT to the register behind it. RW, LUT output to FF input.
pub(in crate::synth::timing) const NET_LUT_TO_FF: f64 = 0.050;
/// A net within a slice from a LUT to a wide multiplexer, or from one to the next. RW, LUT to F7MUX.
pub(in crate::synth::timing) const NET_TO_MUX: f64 = 0.025;
/// A net within a slice from a LUT to a carry's S. RW, LUT to CARRY8/S.
pub(in crate::synth::timing) const NET_TO_CARRY: f64 = 0.015;
/// A net through the fabric to one pin. RPT, -1: the mean of 39 routed nets of fan-out 1.
pub(in crate::synth::timing) const NET: f64 = 0.170;
/// What each doubling of the fan-out adds. RPT, -1: least squares over 116 routed nets.
pub(in crate::synth::timing) const NET_DOUBLING: f64 = 0.054;

/// Delay of a net through the fabric that drives this many pins.
pub(in crate::synth::timing) fn net(fanout: u32) -> f64 {
    NET + NET_DOUBLING * f64::from(fanout.max(1)).log2()
}

/// The sum of all delays: it tells one set of them from another.
#[cfg(test)]
pub(in crate::synth::timing) fn sum() -> f64 {
    let each = [
        LUT,
        LUT_RAM_READ,
        LUT_RAM_CLOCK,
        LUT_RAM_DATA,
        LUT_RAM_ADDRESS,
        LUT_RAM_ENABLE,
        MUX,
        MUX_OUT,
        FF_CLOCK,
        FF_DATA,
        FF_ENABLE,
        FF_RESET,
        CARRY_INIT,
        CARRY_CHAIN,
        CARRY4_THROUGH,
        CARRY_OUT,
        BRAM_CLOCK,
        BRAM_CLOCK_REGISTERED,
        BRAM_ADDRESS,
        BRAM_DATA,
        BRAM_ENABLE,
        BRAM_WRITE,
        BRAM_OUTPUT,
        URAM_ADDRESS,
        URAM_DATA,
        URAM_CONTROL,
        DSP_INPUT,
        DSP_ENABLE,
        DSP_PREADD,
        DSP_MULTIPLY,
        DSP_ALU,
        DSP_CLOCK_P,
        DSP_CLOCK_THROUGH,
        DSP_THROUGH,
        DSP_PERIOD,
        DSP_PERIOD_NO_ADREG,
        DSP_PERIOD_NO_MREG,
        DSP_PERIOD_NO_PIPELINE,
        NET_LUT_TO_FF,
        NET_TO_MUX,
        NET_TO_CARRY,
        NET,
        NET_DOUBLING,
    ];
    let lists = [
        &CARRY_S_O[..],
        &CARRY_S_CO[..],
        &CARRY_DI_O[..],
        &CARRY_DI_CO[..],
        &CARRY_CI_O[..],
        &CARRY_CI_CO[..],
        &URAM_CLOCK[..],
        &URAM_CLOCK_REGISTERED[..],
    ];
    each.iter().chain(lists.into_iter().flatten()).sum()
}

#[cfg(test)]
mod tests {
    use crate::synth::timing::library::delays::*;

    #[test]
    fn a_net_costs_the_published_mean_and_more_with_each_doubling() {
        assert!((net(1) - 0.170).abs() < 1e-9);
        assert!((net(2) - net(1) - 0.054).abs() < 1e-9 && (net(64) - net(32) - 0.054).abs() < 1e-9);
        assert_eq!(net(0), net(1));
    }

    #[test]
    fn stages_of_a_dsp_agree_with_the_periods_of_the_data_sheet() {
        // The same clock-to-output and setup stand in each of the four.
        assert!((DSP_PERIOD_NO_PIPELINE - DSP_PERIOD_NO_MREG - DSP_PREADD).abs() < 0.001);
        assert!((DSP_PERIOD_NO_PIPELINE - DSP_PERIOD_NO_ADREG - DSP_ALU).abs() < 0.001);
        let stages = DSP_MULTIPLY + DSP_ALU;
        for pair in [stages, DSP_CLOCK_THROUGH, DSP_PERIOD_NO_MREG].windows(2) {
            assert!(pair[0] < pair[1]);
        }
    }
}
