//! Writes the packets of a run with their times, as CSV or as Parquet.
//!
//! A row is a packet at one of its destinations, sorted by the cycle of its generation. Tiles are
//! `y * cols + x`; what ends in `_cycle` is a point in time, in cycles after the reset, and what ends in
//! `_cycles` a span.

use crate::cosim::workloads::network::PacketTimes;
use crate::eval::grid::ParquetError;
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError as Failed;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::fmt::Write;
use std::sync::Arc;

/// A column of whole numbers.
type Number = (&'static str, fn(&PacketTimes) -> u64);

/// Name of the only column of text.
const CLASS: &str = "class";

/// All other columns.
const NUMBERS: [Number; 9] = [
    ("source_tile", |packet| packet.source.index() as u64),
    ("destination_tile", |packet| packet.destination.index() as u64),
    ("flits", |packet| u64::from(packet.flits)),
    ("generated_cycle", |packet| packet.generated),
    ("entered_cycle", |packet| packet.entered),
    ("arrived_cycle", |packet| packet.arrived),
    ("source_latency_cycles", |packet| packet.entered - packet.generated),
    ("network_latency_cycles", |packet| packet.arrived - packet.entered),
    ("latency_cycles", PacketTimes::latency),
];

/// Packets in the order of a file, which no engine and no batch changes.
fn sorted(packets: &[PacketTimes]) -> Vec<PacketTimes> {
    let mut sorted = packets.to_vec();
    sorted.sort_by_key(|p| (p.generated, p.source, p.class as usize, p.destination, p.entered, p.arrived));
    sorted
}

/// Packets as CSV, with a line of names.
pub fn packets_to_csv(packets: &[PacketTimes]) -> String {
    let mut text: String = NUMBERS.iter().map(|(name, _)| format!("{name},")).collect();
    text += CLASS;
    text.push('\n');
    for packet in sorted(packets) {
        for (_, number) in NUMBERS {
            let _ = write!(text, "{},", number(&packet));
        }
        text += packet.class.name();
        text.push('\n');
    }
    text
}

/// Packets as the bytes of a Parquet file: no value is missing, and nothing is compressed.
///
/// # Errors
/// If the library refuses them.
pub fn packets_to_parquet(packets: &[PacketTimes]) -> Result<Vec<u8>, ParquetError> {
    let packets = sorted(packets);
    let field = |name: &str, physical, converted| {
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        builder.with_converted_type(converted).build().map(Arc::new)
    };
    let numbers = NUMBERS.iter().map(|(name, _)| field(name, Physical::INT64, ConvertedType::NONE));
    let class = field(CLASS, Physical::BYTE_ARRAY, ConvertedType::UTF8);
    let fields = numbers.chain([class]).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("packets").with_fields(fields).build()?);
    // The name of the writer is not stored with its version, so that the same packets are the same bytes.
    let properties = WriterProperties::builder().set_created_by("meshkv".to_owned()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, number) in NUMBERS {
        let values: Vec<i64> = packets.iter().map(|packet| number(packet) as i64).collect();
        put::<Int64Type>(&mut group, &values)?;
    }
    let names: Vec<ByteArray> = packets.iter().map(|packet| packet.class.name().into()).collect();
    put::<ByteArrayType>(&mut group, &names)?;
    group.close()?;
    Ok(writer.into_inner()?)
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
) -> Result<(), Failed> {
    let Some(mut column) = group.next_column()? else {
        return Err(Failed::General("a column without a field".to_owned()));
    };
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}
