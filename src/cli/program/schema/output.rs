//! JSON Schema of the output of each subcommand: derived from the types that are printed.

use crate::cli::compare::mutate::MutateOutput;
use crate::cli::compare::paper::PaperOutput;
use crate::cli::compare::report::ReportOutput;
use crate::cli::compare::sweep::{SweepOutput, SweepRow};
use crate::cli::output::provenance::{ErrorOutput, Provenance, Wall};
use crate::cli::prepare::check::CheckOutput;
use crate::cli::prepare::estimate::EstimateOutput;
use crate::cli::prepare::generate::GenerateOutput;
use crate::cli::prepare::init::InitOutput;
use crate::cli::prepare::lint::LintOutput;
use crate::cli::prepare::plan::PlanOutput;
use crate::cli::prepare::prove::ProveOutput;
use crate::cli::program::completions::CompletionsOutput;
use crate::cli::program::doctor::DoctorOutput;
use crate::cli::program::examples::ExamplesOutput;
use crate::cli::program::man::ManOutput;
use crate::cli::program::names::name;
use crate::cli::simulate::card::CardOutput;
use crate::cli::simulate::cosim::CosimOutput;
use crate::cli::simulate::decode::DecodePrinted;
use crate::cli::simulate::fetch::FetchOutput;
use crate::cli::simulate::run::RunOutput;
use crate::cli::simulate::soak::SoakOutput;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{json, Map, Value};

/// The described output: that of a subcommand, or a line of the rows of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Of {
    Init,
    Examples,
    Check,
    Generate,
    Lint,
    Prove,
    Cosim,
    Sim,
    Fetch,
    Decode,
    Run,
    Card,
    Soak,
    Mutate,
    Sweep,
    SweepRow,
    Report,
    Paper,
    Estimate,
    Plan,
    Doctor,
    Completions,
    Man,
}

impl Of {
    /// The schema, of draft 2020-12.
    pub(super) fn schema(self) -> Value {
        match self {
            Of::Init => self.printed::<InitOutput>(),
            Of::Examples => self.printed::<ExamplesOutput>(),
            Of::Check => self.printed::<CheckOutput>(),
            Of::Generate => self.printed::<GenerateOutput>(),
            Of::Lint => self.printed::<LintOutput>(),
            Of::Prove => self.printed::<ProveOutput>(),
            Of::Cosim | Of::Sim => self.printed::<CosimOutput>(),
            Of::Fetch => self.printed::<FetchOutput>(),
            Of::Decode => self.printed::<DecodePrinted>(),
            Of::Run => self.printed::<RunOutput>(),
            Of::Card => self.printed::<CardOutput>(),
            Of::Soak => self.printed::<SoakOutput>(),
            Of::Mutate => self.printed::<MutateOutput>(),
            Of::Sweep => self.printed::<SweepOutput>(),
            Of::SweepRow => {
                let mut generator = generator();
                let row = generator.subschema_for::<SweepRow>().to_value();
                root("A line of rows.jsonl of `meshkv sweep`", variants(&row, &json!({})), Map::new())
            }
            Of::Report => self.printed::<ReportOutput>(),
            Of::Paper => self.printed::<PaperOutput>(),
            Of::Estimate => self.printed::<EstimateOutput>(),
            Of::Plan => self.printed::<PlanOutput>(),
            Of::Doctor => self.printed::<DoctorOutput>(),
            Of::Completions => self.printed::<CompletionsOutput>(),
            Of::Man => self.printed::<ManOutput>(),
        }
    }

    /// Schema of a result or an error, each an object whose first key is its origin.
    fn printed<T: JsonSchema>(self) -> Value {
        let mut generator = generator();
        let mut origin = generator.subschema_for::<Provenance>();
        origin.insert("description".to_owned(), "Program, configuration and seed.".into());
        let mut wall = generator.subschema_for::<Wall>();
        wall.insert("description".to_owned(), "What differs from run to run; all other keys repeat.".into());
        let results = [generator.subschema_for::<T>(), generator.subschema_for::<ErrorOutput>()];
        let definitions = generator.take_definitions(true);
        let defined = Value::Object(definitions.clone());
        let mut objects: Vec<Value> =
            results.iter().flat_map(|result| variants(result.as_value(), &defined)).collect();
        for object in &mut objects {
            sign(object, &[("meshkv", origin.as_value()), ("wall", wall.as_value())]);
        }
        root(&format!("Output of `meshkv {} --json`", name(self)), objects, definitions)
    }
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// The objects that a schema allows, each by itself and with its own description.
fn variants(schema: &Value, definitions: &Value) -> Vec<Value> {
    let mut found = match (&schema["$ref"], &schema["anyOf"]) {
        (Value::String(to), _) => variants(&definitions[to.trim_start_matches("#/$defs/")], definitions),
        (_, Value::Array(all)) => all.iter().flat_map(|one| variants(one, definitions)).collect(),
        _ => vec![schema.clone()],
    };
    // The description of the field is more specific than that of its type.
    if let ([one], Value::String(text)) = (found.as_mut_slice(), &schema["description"]) {
        one["description"] = text.as_str().into();
    }
    found
}

/// Puts what every object has before the other keys of an object.
fn sign(object: &mut Value, common: &[(&str, &Value)]) {
    let mut properties: Map<String, Value> =
        common.iter().map(|(key, schema)| ((*key).to_owned(), (*schema).clone())).collect();
    properties.extend(object["properties"].as_object().cloned().unwrap_or_default());
    object["properties"] = properties.into();
    let required = object["required"].as_array().cloned().unwrap_or_default();
    object["required"] = common.iter().map(|(key, _)| Value::from(*key)).chain(required).collect();
}

/// The schema as a whole. Definitions that nothing refers to are left out.
fn root(title: &str, objects: Vec<Value>, mut definitions: Map<String, Value>) -> Value {
    let mut root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "anyOf": objects,
    });
    loop {
        let text = format!("{root}{}", Value::Object(definitions.clone()));
        let before = definitions.len();
        definitions.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
        if definitions.len() == before {
            break;
        }
    }
    if !definitions.is_empty() {
        root["$defs"] = definitions.into();
    }
    finish(&mut root);
    root
}

/// Closes every object to keys that it does not list, and joins the lines of descriptions.
fn finish(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(finish),
        Value::Object(object) => {
            if object.get("properties").is_some_and(Value::is_object)
                && object.get("type").is_some_and(|kind| kind == "object")
                && !object.contains_key("additionalProperties")
            {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            object.values_mut().for_each(finish);
        }
        _ => {}
    }
}
