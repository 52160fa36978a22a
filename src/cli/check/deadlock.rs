//! Output of `meshkv check --deadlock`: the graph of waits in numbers, or a cycle in words.

use crate::cli::table;
use crate::design::deadlock::{RouteFault, Verdict};
use serde_json::{json, Map, Value};

/// Result of the check: a verdict for each scope, or a route that the routers cannot take.
pub type Found = Result<Vec<Verdict>, RouteFault>;

/// True if no resource can wait for itself.
pub fn acyclic(found: &Found) -> bool {
    found.as_ref().is_ok_and(|verdicts| verdicts.iter().all(|v| v.longest_chain.is_some()))
}

/// One object: a key for each scope (`PART`, `KV_FETCH`, `KV_DATA`, `request_reply`), and `acyclic` for all
/// of them.
pub fn as_json(found: &Found) -> Value {
    let mut object = Map::new();
    match found {
        Ok(verdicts) => {
            for v in verdicts {
                let (network, name) = v.scope.names();
                let acyclic = v.longest_chain.is_some();
                let numbers = json!({
                    "network": network, "vertices": v.vertices, "edges": v.edges,
                    "longest_chain": v.longest_chain, "acyclic": acyclic, "cycle": v.cycle,
                });
                object.insert(name.replace('-', "_"), numbers);
            }
        }
        Err(fault) => {
            object.insert("fault".to_owned(), fault.to_string().into());
        }
    }
    object.insert("acyclic".to_owned(), acyclic(found).into());
    object.into()
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
    use super::*;
    use crate::config::Config;
    use crate::design::deadlock::{check, Rules};
    use crate::design::{Design, Port, Turns};

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
