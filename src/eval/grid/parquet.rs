//! Writes rows as a Parquet file: one row group, every column optional, not compressed.

use super::column::Column;
use super::record::Record;
use crate::config::Kind;
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError as Failed;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::Value;
use std::sync::Arc;

/// Rows that cannot be a Parquet file.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the Parquet file: {0}")]
pub struct ParquetError(#[from] Failed);

/// All rows as the bytes of a Parquet file.
///
/// # Errors
/// If the library refuses them.
pub fn to_parquet(columns: &[Column], records: &[Record]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?);
    // The name of the writer is not stored, so that the same rows are the same bytes.
    let properties = WriterProperties::builder().set_created_by("meshkv".to_owned()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (at, column) in columns.iter().enumerate() {
        let values: Vec<&Value> = records.iter().map(|record| &record.values[at]).collect();
        match column.kind {
            Kind::Integer => put::<Int64Type>(&mut group, &values, Value::as_i64)?,
            Kind::Number => put::<DoubleType>(&mut group, &values, Value::as_f64)?,
            Kind::Bool => put::<BoolType>(&mut group, &values, Value::as_bool)?,
            Kind::Text | Kind::Groups => {
                put::<ByteArrayType>(&mut group, &values, |v| v.as_str().map(ByteArray::from))?
            }
        }
    }
    group.close()?;
    Ok(writer.into_inner()?)
}

fn field(column: &Column) -> Result<Arc<Type>, Failed> {
    let (physical, converted) = match column.kind {
        Kind::Integer => (Physical::INT64, ConvertedType::NONE),
        Kind::Number => (Physical::DOUBLE, ConvertedType::NONE),
        Kind::Bool => (Physical::BOOLEAN, ConvertedType::NONE),
        Kind::Text | Kind::Groups => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).with_converted_type(converted).build()?))
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[&Value],
    read: impl Fn(&Value) -> Option<T::T>,
) -> Result<(), Failed> {
    let read: Vec<Option<T::T>> = values.iter().map(|value| read(value)).collect();
    // A level is 1 if a row has a value; the existing values follow each other.
    let levels: Vec<i16> = read.iter().map(|value| i16::from(value.is_some())).collect();
    let present: Vec<T::T> = read.into_iter().flatten().collect();
    let Some(mut column) = group.next_column()? else {
        return Err(Failed::General("a column without a field".to_owned()));
    };
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}
