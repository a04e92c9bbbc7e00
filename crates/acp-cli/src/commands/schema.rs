//! `acp schema`: the schemas of what this program writes.

use clap::ValueEnum;

use crate::exit::Exit;
use crate::show;

/// What there is a schema of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaName {
    /// The events of `acp run --json`
    RunEvents,
}

/// Prints a schema.
pub(crate) fn print(name: SchemaName) -> Exit {
    let schema = match name {
        SchemaName::RunEvents => show::SCHEMA,
    };
    show::print(Ok(schema))
}
