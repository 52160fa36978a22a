//! Requests of a trace, as JSON Lines.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A request: a prompt that is there when it comes, and tokens that are decoded one a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Seconds from the begin of the trace at which it comes.
    pub arrival: f64,
    /// Tokens of its prompt, those of the prefix among them.
    pub prompt: u32,
    /// Tokens that are decoded.
    pub output: u32,
    /// Its first tokens, where other requests have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
}

/// The first tokens of several prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefix {
    /// What tells it from others.
    pub name: String,
    /// Its tokens.
    pub tokens: u32,
}

/// Why a trace is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}\n  help: {help}")]
pub struct RequestError {
    /// Line of the file, from 1 on.
    pub line: usize,
    /// What is wrong.
    pub fault: String,
    /// The way out.
    pub help: &'static str,
}

/// Reads a trace: a request a line, in the order in which they come. Empty lines are left out.
///
/// # Errors
/// If a line is no request, or one that comes before the line above it.
pub fn read(text: &str) -> Result<Vec<Request>, RequestError> {
    const SHAPE: &str =
        "a line is {\"arrival\": seconds, \"prompt\": tokens, \"output\": tokens}, and may have \
                         \"prefix\": {\"name\": \"...\", \"tokens\": tokens}";
    let mut requests: Vec<Request> = Vec::new();
    let mut prefixes: HashMap<String, (u32, usize)> = HashMap::new();
    for (line, written) in (1..).zip(text.lines()).filter(|(_, written)| !written.trim().is_empty()) {
        let refuse = |fault: String, help| Err(RequestError { line, fault, help });
        let request: Request = match serde_json::from_str(written) {
            Ok(request) => request,
            Err(error) => return refuse(error.to_string(), SHAPE),
        };
        let before = requests.last().map_or(0.0, |last| last.arrival);
        if !request.arrival.is_finite() || request.arrival < before {
            let fault = format!("arrival is {}, and the line above has {before}", request.arrival);
            return refuse(fault, "requests stand in the order in which they come, in seconds from 0 on");
        }
        if request.prompt == 0 || request.output == 0 {
            let fault = format!("prompt is {} and output {}", request.prompt, request.output);
            return refuse(fault, "each has a token at least");
        }
        if let Some(Prefix { name, tokens }) = &request.prefix {
            if *tokens == 0 || *tokens > request.prompt {
                let fault = format!("prefix has {tokens} tokens, and prompt {}", request.prompt);
                return refuse(
                    fault,
                    "a prefix is the begin of the prompt: give it a token at least, and no more than that",
                );
            }
            let (known, first) = *prefixes.entry(name.clone()).or_insert((*tokens, line));
            if known != *tokens {
                let fault = format!("prefix {name:?} has {tokens} tokens, and {known} in line {first}");
                return refuse(fault, "give prefixes of other lengths other names");
            }
        }
        requests.push(request);
    }
    match requests.is_empty() {
        true => Err(RequestError { line: 1, fault: "there is no request".to_owned(), help: SHAPE }),
        false => Ok(requests),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_a_request_a_line() {
        let text = "{\"arrival\": 0, \"prompt\": 7, \"output\": 2}\n\n\
                    {\"arrival\": 0.5, \"prompt\": 9, \"output\": 1, \"prefix\": {\"name\": \"a\", \"tokens\": 4}}\n";
        let requests = read(text).unwrap();
        assert_eq!((requests.len(), requests[0].prefix.is_none()), (2, true));
        assert_eq!(requests[1].prefix, Some(Prefix { name: "a".to_owned(), tokens: 4 }));
        let again: Vec<String> = requests.iter().map(|one| serde_json::to_string(one).unwrap()).collect();
        assert_eq!(read(&again.join("\n")).unwrap(), requests);
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_line() {
        let good =
            "{\"arrival\": 1, \"prompt\": 7, \"output\": 2, \"prefix\": {\"name\": \"a\", \"tokens\": 4}}\n";
        for (line, words) in [
            ("{\"arrival\": 0, \"prompt\": 7, \"output\": 2}", "arrival is 0, and the line above has 1"),
            ("{\"arrival\": 1, \"prompt\": 0, \"output\": 2}", "prompt is 0 and output 2"),
            ("{\"arrival\": 1, \"prompt\": 7, \"output\": 0}", "prompt is 7 and output 0"),
            ("{\"arrival\": 1, \"prompt\": 7, \"outptu\": 0}", "unknown field `outptu`"),
            ("arrival,prompt", "expected value"),
            (
                "{\"arrival\": 1, \"prompt\": 7, \"output\": 2, \"prefix\": {\"name\": \"b\", \"tokens\": 8}}",
                "prefix has 8 tokens, and prompt 7",
            ),
            (
                "{\"arrival\": 1, \"prompt\": 7, \"output\": 2, \"prefix\": {\"name\": \"a\", \"tokens\": 5}}",
                "prefix \"a\" has 5 tokens, and 4 in line 1",
            ),
        ] {
            let error = read(&format!("{good}{line}\n")).unwrap_err();
            assert!(error.line == 2 && error.fault.contains(words), "{error}");
        }
        assert_eq!(read("\n").unwrap_err().fault, "there is no request");
    }
}
