//! Names below the bars of a picture, so that none is cut or lies on another.

use crate::eval::report::picture::canvas::{write, Area, Drawn, INK};
use crate::eval::report::picture::text::{broken, cut, extent, letters};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Size of a name, and units of a line of it.
const SIZE: u32 = 14;
const LINE: u32 = 15;
/// Most lines of a name that is written across.
const MOST_LINES: usize = 4;

/// The same of names that are written upwards, and the most letters of them.
const UPWARDS: u32 = 12;
const BESIDE: f64 = 13.0;
const MOST_LETTERS: usize = 22;

/// Names of so many letters that what tells them apart is left: long ones lose the words that all begin with.
fn apart(names: &[&str]) -> Vec<String> {
    let fits = |name: &&str| name.chars().count() <= MOST_LETTERS;
    let alike = |at: &usize| names.iter().all(|name| name.get(..*at) == names[0].get(..*at));
    let common = match names {
        [_] | [] => 0,
        [first, ..] if names.iter().all(fits) || first.is_empty() => 0,
        [first, ..] => (0..first.len()).take_while(|at| alike(at)).last().unwrap_or(0),
    };
    // A word is left out whole.
    let common = names
        .first()
        .and_then(|first| first.get(..common)?.rfind(['_', '-', ' ', ',']))
        .map_or(0, |at| at + 1);
    let short = |name: &&str| match common {
        0 => cut(name, MOST_LETTERS),
        _ => cut(&format!("…{}", &name[common..]), MOST_LETTERS),
    };
    names.iter().map(short).collect()
}

/// The names of all places.
pub(in crate::eval::report) enum Names {
    /// Each in some lines.
    Across(Vec<Vec<String>>),
    /// Each upwards; those between, where places are narrower than a line, have none.
    Upwards(Vec<String>),
}

impl Names {
    /// Of places that share a chart of so many units.
    pub(in crate::eval::report) fn of(places: &[&str], chart: f64) -> Names {
        let pitch = chart / places.len().max(1) as f64;
        // A gap of a letter parts neighbours.
        let most = letters(pitch, SIZE).saturating_sub(1);
        let lines: Option<Vec<Vec<String>>> = places.iter().map(|name| broken(name, most)).collect();
        match lines.filter(|lines| lines.iter().all(|lines| lines.len() <= MOST_LINES)) {
            Some(lines) => Names::Across(lines),
            None => {
                let every = (BESIDE / pitch).ceil().max(1.0) as usize;
                let shown = (0..).zip(apart(places)).map(|(at, name): (usize, String)| match at % every {
                    0 => name,
                    _ => String::new(),
                });
                Names::Upwards(shown.collect())
            }
        }
    }

    /// Units that they take.
    pub(in crate::eval::report) fn height(&self) -> u32 {
        match self {
            Names::Across(lines) => lines.iter().map(Vec::len).max().unwrap_or(1) as u32 * LINE,
            Names::Upwards(names) => {
                names.iter().map(|name| extent(name, UPWARDS)).max().unwrap_or(0) as u32 + 4
            }
        }
    }

    /// Writes the name of a place whose middle is here.
    pub(in crate::eval::report) fn draw(&self, root: &Area<'_>, at: usize, (x, y): (i32, i32)) -> Drawn {
        match self {
            Names::Across(lines) => {
                for (line, text) in (0..).zip(&lines[at]) {
                    let place = (x, y + 6 + line * LINE as i32);
                    write(root, text.trim_end(), SIZE, INK, place, (HPos::Center, VPos::Top))?;
                }
                Ok(())
            }
            Names::Upwards(names) if names[at].is_empty() => Ok(()),
            Names::Upwards(names) => {
                let font = ("sans-serif", UPWARDS).into_font().transform(FontTransform::Rotate270);
                let style = font.color(&INK).pos(Pos::new(HPos::Right, VPos::Center));
                root.draw(&Text::new(names[at].clone(), (x, y + 6), style))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::eval::report::picture::bar_names::*;

    #[test]
    fn long_names_keep_what_tells_them_apart() {
        let long = ["a_configuration_with_a_long_name_10", "a_configuration_with_a_long_name_11"];
        assert_eq!(apart(&long), ["…10", "…11"]);
        assert_eq!(apart(&["short_1", "short_2"]), ["short_1", "short_2"]);
        assert_eq!(apart(&["é_configuration_with_a_long_name"])[0].chars().count(), MOST_LETTERS);
        assert!(
            apart(&["aé_a_very_long_name_indeed_x", "aè_a_very_long_name_indeed_x"])[1].starts_with("aè_a")
        );
    }

    #[test]
    fn names_are_written_across_where_there_is_room() {
        let of = |places: &[&str]| matches!(Names::of(places, 460.0), Names::Across(_));
        assert!(of(&["a_configuration_with_a_very_long_name", "b"]) && of(&["4x4"; 12]));
        assert!(!of(&["onewordthatisverylongandhasnoend"; 6]) && !of(&["16x16"; 20]));
        let Names::Upwards(names) = Names::of(&["16x16"; 80], 460.0) else { panic!("there is no room") };
        assert_eq!(names.iter().filter(|name| !name.is_empty()).count(), 27);
    }
}
