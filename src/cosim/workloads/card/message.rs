//! What a host asks of the card, and the answers, with their bytes on the socket.
//!
//! A request is a letter and numbers of eight bytes, little-endian; `sim/xrt/remote.hpp` writes it.

use std::io::{self, Read, Write};

/// Bytes of the largest buffer: XRT has none of 4 GB.
const MOST_BYTES: u64 = 4 << 30;

/// A request of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A buffer of so many bytes in a memory: a channel of HBM, or DDR for the kernel's argument of a number from 1000
    /// on. The reply is its address.
    Allocate {
        /// Bytes.
        bytes: u64,
        /// Number of the memory.
        memory: u32,
    },
    /// Bytes into memory, without a reply.
    Put {
        /// The first byte.
        address: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Bytes of memory.
    Get {
        /// The first byte.
        address: u64,
        /// Their number.
        bytes: u64,
    },
    /// A write of a register, without a reply.
    Write {
        /// Byte address.
        offset: u32,
        /// Value.
        value: u32,
    },
    /// A read of a register. The reply is its value.
    Read {
        /// Byte address.
        offset: u32,
    },
    /// The interrupt, or a while without one. The reply is 0.
    Wait,
    /// The record of a run, or a long while without one. The reply is 0.
    Record,
    /// A buffer that the host gives back, without a reply.
    Free {
        /// Its address.
        address: u64,
    },
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// None: the host goes on at once.
    Nothing,
    /// An address or a value.
    Number(u64),
    /// Contents of memory.
    Bytes(Vec<u8>),
}

impl Request {
    /// Reads the next request; `None` if the host has closed its end.
    ///
    /// # Errors
    /// If a request is cut off, or none of these.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Request>> {
        let mut letter = [0];
        if from.read(&mut letter)? == 0 {
            return Ok(None);
        }
        let request = match letter[0] {
            b'A' => Request::Allocate { bytes: number(from)?, memory: small(from)? },
            b'P' => {
                let (address, bytes) = (number(from)?, size(from)?);
                let mut all = vec![0; bytes as usize];
                from.read_exact(&mut all)?;
                Request::Put { address, bytes: all }
            }
            b'G' => Request::Get { address: number(from)?, bytes: size(from)? },
            b'W' => Request::Write { offset: small(from)?, value: small(from)? },
            b'R' => Request::Read { offset: small(from)? },
            b'I' => Request::Wait,
            b'E' => Request::Record,
            b'F' => Request::Free { address: number(from)? },
            other => return Err(unsound(format!("a request begins with byte {other}"))),
        };
        Ok(Some(request))
    }
}

impl Reply {
    /// Writes the answer.
    ///
    /// # Errors
    /// If the host does not take it.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            Reply::Nothing => Ok(()),
            Reply::Number(number) => to.write_all(&number.to_le_bytes()),
            Reply::Bytes(bytes) => to.write_all(bytes),
        }
    }
}

fn unsound(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn number(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn small(from: &mut impl Read) -> io::Result<u32> {
    let number = number(from)?;
    number.try_into().map_err(|_| unsound(format!("{number:#x} is no number of 32 bits")))
}

fn size(from: &mut impl Read) -> io::Result<u64> {
    let bytes = number(from)?;
    if bytes >= MOST_BYTES {
        return Err(unsound(format!("a transfer has {bytes} bytes, and a buffer less than {MOST_BYTES}")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(letter: u8, numbers: &[u64], rest: &[u8]) -> io::Result<Option<Request>> {
        let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
        let bytes: Vec<u8> = [letter].into_iter().chain(numbers).chain(rest.iter().copied()).collect();
        Request::read(&mut bytes.as_slice())
    }

    #[test]
    fn requests_are_read_whole_or_refused() {
        let put = Request::Put { address: 7, bytes: vec![1, 2] };
        assert_eq!(read(b'P', &[7, 2], &[1, 2]).unwrap(), Some(put));
        assert_eq!(read(b'W', &[16, 5], &[]).unwrap(), Some(Request::Write { offset: 16, value: 5 }));
        assert_eq!(read(b'I', &[], &[]).unwrap(), Some(Request::Wait));
        assert_eq!(Request::read(&mut [].as_slice()).unwrap(), None);
        for (letter, numbers, kind) in [
            (b'P', &[7, 2][..], io::ErrorKind::UnexpectedEof),
            (b'G', &[7], io::ErrorKind::UnexpectedEof),
            (b'G', &[7, 1 << 40], io::ErrorKind::InvalidData),
            (b'R', &[1 << 32], io::ErrorKind::InvalidData),
            (b'?', &[], io::ErrorKind::InvalidData),
        ] {
            assert_eq!(read(letter, numbers, &[]).unwrap_err().kind(), kind, "{letter} {numbers:?}");
        }
    }
}
