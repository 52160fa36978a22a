//! Packed ports: tile t's part is the t-th.

use crate::cosim::bits::{get_bits, in_one_word, put_bits};
use crate::cosim::build::tiles_sharing;
use crate::design::Design;
use crate::emit::{ModuleSpec, PortSpec};

/// Bits of a payload that the model carries.
pub(super) const PAYLOAD: u32 = 64;

/// Words after a port's last, so that 64 bits can be read at any place.
const SPARE: usize = 3;

/// A packed port.
#[derive(Debug, Clone)]
struct Packed {
    name: String,
    words: Vec<u32>,
    /// Bits of one part.
    width: u32,
}

impl Packed {
    fn new(port: &PortSpec, design: &Design) -> Packed {
        let parts = tiles_sharing(port, design);
        let bits = port.width.bits;
        let words = vec![0; bits.div_ceil(32) as usize + SPARE];
        Packed { name: port.name.clone(), words, width: bits / parts }
    }

    /// The three words from the one with bit `shift` on, which contain the 64 bits of a part.
    #[inline]
    fn at(&self, part: usize) -> (usize, u32, u128) {
        let begin = part * self.width as usize;
        let (at, shift) = (begin / 32, (begin % 32) as u32);
        let words = &self.words[at..at + SPARE];
        let wide = u128::from(words[0]) | u128::from(words[1]) << 32 | u128::from(words[2]) << 64;
        (at, shift, wide)
    }

    #[inline]
    fn mask(&self) -> u128 {
        (1 << self.width.min(PAYLOAD)) - 1
    }

    #[inline]
    fn get(&self, part: usize) -> u64 {
        if let Some((at, shift, mask)) = in_one_word(part * self.width as usize, self.width) {
            return u64::from((self.words[at] & mask) >> shift);
        }
        let (_, shift, wide) = self.at(part);
        (wide >> shift & self.mask()) as u64
    }

    #[inline]
    fn put(&mut self, part: usize, value: u64) {
        if let Some((at, shift, mask)) = in_one_word(part * self.width as usize, self.width) {
            let word = &mut self.words[at];
            *word = *word & !mask | (value as u32) << shift & mask;
            return;
        }
        let (at, shift, wide) = self.at(part);
        let mask = self.mask();
        let wide = wide & !(mask << shift) | (u128::from(value) & mask) << shift;
        for (i, word) in self.words[at..at + SPARE].iter_mut().enumerate() {
            *word = (wide >> (32 * i)) as u32;
        }
    }
}

/// All ports of a module, by number.
#[derive(Debug, Clone)]
pub(super) struct Ports {
    ports: Vec<Packed>,
}

impl Ports {
    /// The ports of a module.
    pub(super) fn of(top: &ModuleSpec, design: &Design) -> Ports {
        Ports { ports: top.ports.iter().map(|port| Packed::new(port, design)).collect() }
    }

    /// The number of the port with this name, if there is one.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.ports.iter().position(|port| port.name == name)
    }

    #[inline]
    pub(super) fn words(&self, port: usize) -> &[u32] {
        &self.ports[port].words
    }

    pub(super) fn words_mut(&mut self, port: usize) -> &mut [u32] {
        &mut self.ports[port].words
    }

    /// The low 64 bits of a part; 0 for a port that the design lacks.
    #[inline]
    pub(super) fn get(&self, port: Option<usize>, part: usize) -> u64 {
        port.map_or(0, |port| self.ports[port].get(part))
    }

    /// The low 32 bits.
    #[inline]
    pub(super) fn get32(&self, port: Option<usize>, part: usize) -> u32 {
        self.get(port, part) as u32
    }

    /// True if a part of one bit is set.
    #[inline]
    pub(super) fn bit(&self, port: Option<usize>, part: usize) -> bool {
        self.get(port, part) == 1
    }

    /// Sets the low 64 bits of a part.
    #[inline]
    pub(super) fn put(&mut self, port: Option<usize>, part: usize, value: impl Into<u64>) {
        if let Some(port) = port {
            self.ports[port].put(part, value.into());
        }
    }

    /// All bits of a part of up to 128.
    pub(super) fn get_wide(&self, port: Option<usize>, part: usize) -> u128 {
        let Some(port) = port.map(|port| &self.ports[port]) else { return 0 };
        let words = get_bits(&port.words, part * port.width as usize, port.width);
        words.zip((0..u128::BITS).step_by(32)).fold(0, |all, (word, shift)| all | u128::from(word) << shift)
    }

    /// A port of one part in words of 64 bits; words beyond its width are 0.
    pub(super) fn get_words<const N: usize>(&self, port: Option<usize>) -> [u64; N] {
        let Some(port) = port.map(|port| &self.ports[port]) else { return [0; N] };
        let mut words = [0; N];
        for (at, word) in get_bits(&port.words, 0, port.width).enumerate() {
            words[at / 2] |= u64::from(word) << (32 * (at % 2));
        }
        words
    }

    /// Sets all bits of a part.
    pub(super) fn put_words(&mut self, port: Option<usize>, part: usize, words: &[u32]) {
        let Some(port) = port.map(|port| &mut self.ports[port]) else { return };
        put_bits(&mut port.words, part * port.width as usize, port.width, words);
    }
}

/// Declares port numbers that are looked up by name; a port that the design lacks is `None`.
macro_rules! numbers {
    ($($name:ident)+) => {
        #[derive(Debug, Clone, Copy)]
        struct Numbers {
            $($name: Option<usize>,)+
        }

        impl Numbers {
            fn of(ports: &Ports) -> Numbers {
                Numbers { $($name: ports.find(stringify!($name)),)+ }
            }
        }
    };
}
pub(super) use numbers;
