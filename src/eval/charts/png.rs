//! Converts an SVG picture to PNG, with a font of our own.
//!
//! It knows nothing of the contents. Only the embedded DejaVu fonts are used, so the same picture
//! has the same pixels on a machine with no fonts at all.

use resvg::usvg::fontdb::{Database, Source};
use resvg::{tiny_skia, usvg};
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// Pixels per user unit: text of 10 units stays readable on a dense screen.
const PIXELS_PER_UNIT: f32 = 2.0;

/// The family that every generic name (`sans-serif`, `monospace`, ...) resolves to.
const FAMILY: &str = "DejaVu Sans";

/// Reason why a picture could not be rendered.
#[derive(Debug, Error)]
pub enum PngError {
    /// The text is no SVG.
    #[error("the picture is not valid SVG: {0}")]
    Svg(#[from] usvg::Error),
    /// The picture has no area, or more pixels than memory can hold.
    #[error("the picture of {width} x {height} pixels cannot be rendered")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The pixels could not be encoded.
    #[error("cannot encode the picture as PNG: {0}")]
    Encode(String),
}

/// Renders an SVG at two pixels per unit. All text is set in DejaVu Sans, whatever its family.
///
/// # Errors
///
/// If the text is no SVG, or the picture has no area or is too large for memory.
pub fn svg_to_png(svg: &str) -> Result<Vec<u8>, PngError> {
    let options = usvg::Options { font_family: FAMILY.to_owned(), fontdb: fonts(), ..Default::default() };
    let tree = usvg::Tree::from_str(svg, &options)?;
    let pixels = |units: f32| (units * PIXELS_PER_UNIT).ceil() as u32;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let mut pixmap = tiny_skia::Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    let scale = tiny_skia::Transform::from_scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT);
    resvg::render(&tree, scale, &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| PngError::Encode(e.to_string()))
}

/// The embedded fonts, read once.
fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let load = || {
        let mut fonts = Database::new();
        for face in [dejavu::sans::regular(), dejavu::sans::bold()] {
            fonts.load_font_source(Source::Binary(Arc::new(face)));
        }
        fonts.set_serif_family(FAMILY);
        fonts.set_sans_serif_family(FAMILY);
        fonts.set_monospace_family(FAMILY);
        fonts.set_cursive_family(FAMILY);
        fonts.set_fantasy_family(FAMILY);
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}

#[cfg(test)]
mod tests {
    use crate::eval::charts::png::*;

    /// A picture whose only dark pixels are those of its text.
    fn picture(text: &str, family: &str) -> String {
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20">
            <rect width="80" height="20" fill="white"/>
            <text x="4" y="15" font-family="{family}" font-size="12">{text}</text></svg>"#
        )
    }

    fn dark_pixels(png: &[u8]) -> usize {
        let pixmap = tiny_skia::Pixmap::decode_png(png).unwrap();
        assert_eq!((pixmap.width(), pixmap.height()), (160, 40));
        pixmap.pixels().iter().filter(|p| p.red() < 128).count()
    }

    #[test]
    fn text_is_drawn_without_any_installed_font() {
        let blank = dark_pixels(&svg_to_png(&picture("", "sans-serif")).unwrap());
        assert_eq!(blank, 0);
        for family in ["sans-serif", "monospace", "No Such Family"] {
            let dark = dark_pixels(&svg_to_png(&picture("mesh", family)).unwrap());
            assert!(dark > 100, "{family}: {dark} dark pixels");
        }
    }

    #[test]
    fn what_is_no_svg_is_refused() {
        let error = svg_to_png("latency,load").unwrap_err();
        assert!(error.to_string().starts_with("the picture is not valid SVG"), "{error}");
    }
}
