//! Values that a design gives to the templates: one map for all modules, in the terms of the design.
//!
//! Each name is set in one place. Parameters of modules take theirs as defaults, so every module as emitted is the one
//! of the design even when it stands alone.

use crate::design::index_bits;
use serde::Serialize;
use std::collections::BTreeMap;

/// Values by their names in the templates.
#[derive(Default, Serialize)]
pub(in crate::emit::rtl) struct Values(BTreeMap<String, tera::Value>);

impl Values {
    /// Sets a value.
    ///
    /// # Panics
    /// If the name has one already: a fact has one place.
    pub(in crate::emit::rtl) fn set(&mut self, name: impl Into<String>, value: impl Into<tera::Value>) {
        let name = name.into();
        assert!(!self.0.contains_key(&name), "{name} is set twice");
        self.0.insert(name, value.into());
    }

    /// Sets numbers.
    pub(in crate::emit::rtl) fn numbers(&mut self, values: &[(&str, u32)]) {
        for (name, value) in values {
            self.set(*name, *value);
        }
    }

    /// Sets values that are true or false.
    pub(in crate::emit::rtl) fn flags(&mut self, values: &[(&str, bool)]) {
        for (name, value) in values {
            self.set(*name, *value);
        }
    }

    /// Sets texts.
    pub(in crate::emit::rtl) fn texts(&mut self, values: impl IntoIterator<Item = (&'static str, String)>) {
        for (name, value) in values {
            self.set(name, value);
        }
    }

    /// Sets the width of numbers from 0 to below `count`, in bits.
    pub(in crate::emit::rtl) fn widths(&mut self, counts: &[(&str, u32)]) {
        for (name, count) in counts {
            self.set(*name, index_bits(*count));
        }
    }
}
