//! Tests of MaRe: requesters and home agents.

mod duplicates;
mod fetch;
mod oracle;
mod switches;
