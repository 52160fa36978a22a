//! Rules of the layers of a model: what they attend to.

use crate::config::{Advice, Config, Finding, KvScales};

const WINDOW: &str = "model.sliding_window";
const GROUPS: &str = "model.groups";

/// A window is shorter than the longest context.
pub(super) fn sliding_window_acts(config: &Config) -> Option<Finding> {
    let (model, tokens) = (&config.model, config.model.max_tokens);
    let of_group = || model.groups.iter().flatten().filter_map(|group| group.window);
    let (key, window) = match (model.sliding_window, of_group().max()) {
        (Some(window), _) => (WINDOW, window),
        (None, Some(window)) => (GROUPS, window),
        (None, None) => return None,
    };
    (window > tokens).then(|| {
        let shown =
            if key == GROUPS { format!("a list with a window of {window}") } else { window.to_string() };
        Finding::value(
            key,
            shown,
            format!("is above model.max_tokens = {tokens}, so it never acts"),
            "max_tokens is the longest context, and the window is to be shorter",
        )
        .advising([Advice::leave_out(key), Advice::set("model.max_tokens", window)])
        .with(&["model.max_tokens"])
        .as_warning()
    })
}

/// The window of all layers, or one a group.
pub(super) fn layers_have_one_window(config: &Config) -> Option<Finding> {
    let (window, _) = config.model.sliding_window.zip(config.model.groups.as_ref())?;
    let fault = "is that of all layers, and model.groups has windows too";
    let ways = [Advice::leave_out(WINDOW), Advice::leave_out(GROUPS)];
    let help = "where layers differ, give the window of each group in model.groups";
    Some(Finding::value(WINDOW, window, fault, help).advising(ways).with(&[GROUPS]))
}

/// Sinks come with the scales of a run.
pub(super) fn sinks_have_scales(config: &Config) -> Option<Finding> {
    let sinks = config.model.groups.iter().flatten().any(|group| group.sinks);
    (sinks && config.kv.scales_of_format() == KvScales::None).then(|| {
        let fault = "has sinks, which need kv.scales = \"head\"";
        let help = "a host gives the sink of each query head beside its scales";
        let ways = [Advice::set("kv.scales", KvScales::Head.name()), Advice::leave_out(GROUPS)];
        Finding::value(GROUPS, "a list", fault, help).advising(ways).with(&["kv.scales", "kv.format"])
    })
}
