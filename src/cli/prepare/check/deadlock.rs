//! Output of `meshkv check --deadlock`: the graph of waits in numbers, or a cycle in words.

use crate::cli::output::table;
use crate::design::network::deadlock::{RouteFault, Scope, Verdict};
use crate::design::Class;
use schemars::JsonSchema;
use serde::Serialize;

/// Result of the check: a verdict for each scope, or a route that the routers cannot take.
pub type Found = Result<Vec<Verdict>, RouteFault>;

/// True if no resource can wait for itself.
pub fn acyclic(found: &Found) -> bool {
    found.as_ref().is_ok_and(|verdicts| verdicts.iter().all(|v| v.longest_chain.is_some()))
}

/// Waits by scope. The scopes are there unless a route cannot be taken.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) struct DeadlockOutput {
    /// Buffers of PART.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<ScopeOutput>,
    /// Buffers of KV_FETCH.
    #[serde(skip_serializing_if = "Option::is_none")]
    kv_fetch: Option<ScopeOutput>,
    /// Buffers of KV_DATA.
    #[serde(skip_serializing_if = "Option::is_none")]
    kv_data: Option<ScopeOutput>,
    /// Buffers of all classes, and their dependencies inside the tiles.
    #[serde(rename = "request_reply", skip_serializing_if = "Option::is_none")]
    request_reply: Option<ScopeOutput>,
    /// A route that the routers cannot take.
    #[serde(rename = "fault", skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    /// True if nothing can wait for itself.
    #[serde(rename = "acyclic")]
    acyclic: bool,
}

/// Waits of one scope.
#[derive(Debug, Serialize, JsonSchema)]
struct ScopeOutput {
    /// Virtual network.
    network: &'static str,
    /// Number of resources.
    vertices: usize,
    /// Number of waits: pairs of resources.
    edges: usize,
    /// Resources on the longest chain of waits; null with a cycle.
    longest_chain: Option<usize>,
    /// True if there is no cycle.
    acyclic: bool,
    /// A shortest cycle, each resource in words and waiting for the next; empty if there is none.
    cycle: Vec<String>,
}

/// The result as JSON has it.
pub(super) fn output(found: &Found) -> DeadlockOutput {
    let mut output = DeadlockOutput { acyclic: acyclic(found), ..DeadlockOutput::default() };
    let verdicts = match found {
        Ok(verdicts) => verdicts,
        Err(fault) => return DeadlockOutput { fault: Some(fault.to_string()), ..output },
    };
    for v in verdicts {
        let place = match v.scope {
            Scope::Class(Class::Part) => &mut output.part,
            Scope::Class(Class::KvFetch) => &mut output.kv_fetch,
            Scope::Class(Class::KvData) => &mut output.kv_data,
            Scope::RequestReply => &mut output.request_reply,
        };
        *place = Some(ScopeOutput {
            network: v.scope.names().0,
            vertices: v.vertices,
            edges: v.edges,
            longest_chain: v.longest_chain,
            acyclic: v.longest_chain.is_some(),
            cycle: v.cycle.clone(),
        });
    }
    output
}

/// The same as a table, followed by each cycle.
pub fn prose(found: &Found) -> String {
    let verdicts = match found {
        Ok(verdicts) => verdicts,
        Err(fault) => return format!("Deadlock: {fault}\n"),
    };
    let mut rows =
        vec![["network", "class", "vertices", "edges", "longest chain", ""].map(str::to_owned).to_vec()];
    for v in verdicts {
        let (network, name) = v.scope.names();
        let (chain, word) = match v.longest_chain {
            Some(chain) => (chain.to_string(), "acyclic"),
            None => ("endless".to_owned(), "CYCLE"),
        };
        let numbers = [v.vertices.to_string(), v.edges.to_string(), chain];
        let words = [network, name].map(str::to_owned).into_iter();
        rows.push(words.chain(numbers).chain([word.to_owned()]).collect());
    }
    let cycles = verdicts.iter().filter(|v| !v.cycle.is_empty()).map(cycle);
    format!("Who can wait for whom:\n{}{}", table::columns(&rows), cycles.collect::<String>())
}

fn cycle(verdict: &Verdict) -> String {
    let (_, name) = verdict.scope.names();
    let (cycle, first) = (&verdict.cycle, &verdict.cycle[0]);
    let waits: String = cycle[1..].iter().chain([first]).map(|next| format!("    -> {next}\n")).collect();
    format!("\n{name}: {} resources wait for each other in a circle:\n  {first}\n{waits}", cycle.len())
}

#[cfg(test)]
mod tests {
    use crate::cli::prepare::check::deadlock::*;
    use crate::config::Config;
    use crate::design::network::deadlock::{check, Rules};
    use crate::design::{Design, Port, Turns};
    use serde_json::{json, Value};

    fn as_json(found: &Found) -> Value {
        serde_json::to_value(output(found)).unwrap()
    }

    fn found(change: impl Fn(&mut Rules)) -> Found {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (2, 2);
        let design = Design::from_config("tiny", &config).unwrap();
        let mut rules = Rules::of(&design);
        change(&mut rules);
        check(&design, &rules)
    }

    #[test]
    fn what_is_built_is_acyclic() {
        let found = found(|_| {});
        assert!(acyclic(&found));
        assert_eq!(as_json(&found)["acyclic"], true);
        let text = prose(&found);
        assert_eq!((text.matches(" acyclic\n").count(), text.contains("CYCLE")), (4, false), "{text}");
    }

    #[test]
    fn a_cycle_is_told_from_its_first_resource_back_to_it() {
        let found = found(|rules| rules.parking_has_room = false);
        assert!(!acyclic(&found));
        let text = prose(&found);
        let told = "\
request-reply: 2 resources wait for each other in a circle:
  tile (0, 0), arrival from the router, VC 2 (KV_FETCH)
    -> tile (0, 0), slots of the staging memory
    -> tile (0, 0), arrival from the router, VC 2 (KV_FETCH)
";
        assert!(text.ends_with(told), "{text}");
        let value = as_json(&found);
        assert_eq!((&value["acyclic"], &value["KV_DATA"]["acyclic"]), (&json!(false), &json!(true)));
        assert_eq!(value["request_reply"]["cycle"].as_array().unwrap().len(), 2);
        assert_eq!(value["request_reply"]["longest_chain"], Value::Null);
    }

    #[test]
    fn a_route_without_a_turn_is_told_and_fails() {
        let found = found(|rules| rules.turns = Turns::of(&[(Port::Local, &[Port::East])]));
        assert!(!acyclic(&found));
        let told =
            "the route from tile (0, 0) to tile (1, 0) turns from the west input to the local output of \
                    router (1, 0), which is not built";
        assert_eq!(prose(&found), format!("Deadlock: {told}\n"));
        assert_eq!(as_json(&found), json!({ "fault": told, "acyclic": false }));
    }
}
