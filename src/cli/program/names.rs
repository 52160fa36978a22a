//! Names of choices on the command line.

/// The name of a choice on the command line.
pub(in crate::cli) fn name(value: impl clap::ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |v| v.get_name().to_owned())
}
