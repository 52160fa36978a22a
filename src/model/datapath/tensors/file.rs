//! A safetensors file: reads only its header and the tensors that are asked for.

use super::error::{Missing, TensorError};
use super::seems;
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::SafeTensorError;
use serde_json::{Map, Value};
use std::io::{Error, Read, Seek, SeekFrom};

/// Bytes of a file's header at most, as the format has it.
const MOST_HEADER: u64 = 100_000_000;

/// Bytes of the number that says how long the header is.
const NUMBER: u64 = 8;

/// Bytes at the start by which another kind of file is known.
const SEEN: u64 = 512;

/// A file with a sound header and as many bytes as that asks for.
pub(super) struct TensorFile<R> {
    source: R,
    metadata: Metadata,
    /// Byte at which the tensors begin.
    data: u64,
}

impl<R: Read + Seek> TensorFile<R> {
    /// Reads the header.
    pub(super) fn open(mut source: R) -> Result<TensorFile<R>, TensorError> {
        let length = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        match TensorFile::header(&mut source, length) {
            Ok((metadata, data)) => Ok(TensorFile { source, metadata, data }),
            Err(TensorError::Damaged(why)) => {
                source.rewind()?;
                let mut begin = Vec::new();
                source.take(SEEN).read_to_end(&mut begin)?;
                Err(seems::file(&begin).map_or(TensorError::Damaged(why), TensorError::OtherFile))
            }
            Err(why) => Err(why),
        }
    }

    fn header(source: &mut R, length: u64) -> Result<(Metadata, u64), TensorError> {
        let damaged = |why| Err(TensorError::Damaged(why));
        let mut number = [0; NUMBER as usize];
        if length < NUMBER {
            return damaged(SafeTensorError::HeaderTooSmall);
        }
        source.read_exact(&mut number)?;
        let size = u64::from_le_bytes(number);
        if size > MOST_HEADER {
            return damaged(SafeTensorError::HeaderTooLarge);
        }
        let data = NUMBER + size;
        if data > length {
            return damaged(SafeTensorError::InvalidHeaderLength);
        }
        let mut header = vec![0; size as usize];
        source.read_exact(&mut header)?;
        let header = std::str::from_utf8(&header)
            .map_err(|e| TensorError::Damaged(SafeTensorError::InvalidHeader(e)))?;
        let metadata: Metadata = serde_json::from_str(header)
            .map_err(|e| TensorError::Damaged(SafeTensorError::InvalidHeaderDeserialization(e)))?;
        if data.checked_add(metadata.data_len() as u64) != Some(length) {
            return damaged(SafeTensorError::MetadataIncompleteBuffer);
        }
        Ok((metadata, data))
    }

    /// Names of all tensors.
    pub(super) fn names(&self) -> Vec<String> {
        self.metadata.offset_keys()
    }

    /// Type, shape and place of a tensor.
    pub(super) fn info(&self, name: &str) -> Result<&TensorInfo, TensorError> {
        let missing = || TensorError::Missing(Missing::new(name, &self.names()));
        self.metadata.info(name).ok_or_else(missing)
    }

    /// Reads the bytes of a tensor.
    pub(super) fn bytes(&mut self, name: &str) -> Result<Vec<u8>, TensorError> {
        let (begin, end) = self.info(name)?.data_offsets;
        self.source.seek(SeekFrom::Start(self.data + begin as u64))?;
        let mut bytes = vec![0; end - begin];
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Bytes of a source without seek, such as a pipe: as many as its header names and one more, whose presence is an error.
/// An endless source, or one of another format, is refused at its header.
pub(super) fn piped(mut source: impl Read) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    source.by_ref().take(NUMBER).read_to_end(&mut bytes)?;
    let header = <[u8; 8]>::try_from(bytes.as_slice()).map_or(0, u64::from_le_bytes);
    source.by_ref().take(header.min(MOST_HEADER)).read_to_end(&mut bytes)?;
    let tensors: Map<String, Value> =
        bytes.get(8..).and_then(|header| serde_json::from_slice(header).ok()).unwrap_or_default();
    let data = tensors.values().filter_map(|tensor| tensor["data_offsets"][1].as_u64()).max().unwrap_or(0);
    source.take(data.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}
