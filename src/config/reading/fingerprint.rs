//! SHA-256 of a configuration: one for all files that mean the same.

use crate::config::schema::Config;
use sha2::{Digest, Sha256};

/// Keys that came later, as they are where they are left out: a file without them has the hash that it had before.
const LATER: [&str; 1] = [r#","io":null"#];

impl Config {
    /// SHA-256 in lower-case hexadecimal, 64 digits, of the configuration as compact JSON: every key with its value or
    /// default, in the order of `meshkv schema`. Comments, the order of a file and its name do not affect it.
    pub fn sha256(&self) -> String {
        // Tables, numbers and words are always JSON.
        let text = serde_json::to_string(self).unwrap_or_default();
        let text = LATER.into_iter().fold(text, |text, key| text.replacen(key, "", 1));
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::reading::fingerprint::*;

    #[test]
    fn a_default_that_is_written_out_changes_nothing_and_another_value_does() {
        let of = |text: &str| toml::from_str::<Config>(text).unwrap().sha256();
        let default = Config::default().sha256();
        assert_eq!(default.len(), 64);
        assert_eq!(of("# a remark\n[mesh]\nrows = 8\ncols = 8\n"), default);
        assert_ne!(of("[mesh]\nrows = 4\n"), default);
        assert_ne!(of("[memory]\nio = \"hbm\"\n"), default);
    }
}
