//! Tests of configurations and of the messages about them.

mod accept;
mod advice;
mod damaged;
mod messages;
mod named;
mod round_trip;
