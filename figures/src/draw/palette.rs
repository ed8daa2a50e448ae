//! Colours of the page, of series and of the colour scale.

use plotters_backend::{BackendColor, BackendStyle};

use super::Theme;
use crate::picture::{COLOURS, Part};

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RGBColor(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// What is filled with it.
impl BackendStyle for RGBColor {
    fn color(&self) -> BackendColor {
        BackendColor { alpha: 1.0, rgb: (self.0, self.1, self.2) }
    }
}

/// The colours of a theme, and how thick its lines are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    pub(crate) background: RGBColor,
    pub(crate) text: RGBColor,
    /// For what is less important: subtitle, tick marks, edges.
    pub(crate) muted: RGBColor,
    pub(crate) grid: RGBColor,
    /// Of classes: told apart in grey, as their lightness differs, and by the colour-blind.
    pub(crate) series: [RGBColor; COLOURS],
    /// Of parts of a latency, in the order of [`Part::ALL`], none like that of a class. Those of which blocking and
    /// sharing consist are shades of it.
    parts: [RGBColor; Part::ALL.len()],
    /// Of curves \[px\].
    pub(crate) line: f64,
    /// Of frames and intervals \[px\].
    pub(crate) thin: f64,
}

/// Blue, orange, black, rose and brown: Okabe and Ito's hues, but a step of lightness between any two.
const ON_WHITE: [RGBColor; COLOURS] = [
    RGBColor(0x00, 0x52, 0x9B),
    RGBColor(0xE3, 0x73, 0x00),
    RGBColor(0x16, 0x16, 0x16),
    RGBColor(0xB4, 0x4E, 0x78),
    RGBColor(0x52, 0x2A, 0x0A),
];

/// The same order, light on dark: sky blue, orange, white, yellow, purple.
const ON_BLACK: [RGBColor; COLOURS] = [
    RGBColor(0x5C, 0xBA, 0xF0),
    RGBColor(0xE8, 0x70, 0x2A),
    RGBColor(0xFA, 0xFA, 0xFA),
    RGBColor(0xEA, 0xDC, 0x3A),
    RGBColor(0xBC, 0x48, 0xA0),
];

/// Grey, teal, ochre, purple; shades of teal and ochre.
const PARTS_ON_WHITE: [RGBColor; Part::ALL.len()] = [
    RGBColor(0x91, 0x91, 0x91),
    RGBColor(0x00, 0x65, 0x5D),
    RGBColor(0x87, 0x77, 0x04),
    RGBColor(0x4F, 0x26, 0x7A),
    RGBColor(0x00, 0x65, 0x5D),
    RGBColor(0x08, 0xA2, 0x95),
    RGBColor(0x7A, 0x6B, 0x00),
    RGBColor(0xA6, 0x94, 0x1B),
];

/// The same hues, light on dark.
const PARTS_ON_BLACK: [RGBColor; Part::ALL.len()] = [
    RGBColor(0x8A, 0x8A, 0x8A),
    RGBColor(0x1F, 0xD1, 0xC1),
    RGBColor(0xA8, 0x96, 0x39),
    RGBColor(0x84, 0x5E, 0xC2),
    RGBColor(0x00, 0x9A, 0x8D),
    RGBColor(0x2B, 0xD7, 0xC7),
    RGBColor(0x8C, 0x7C, 0x2B),
    RGBColor(0xB9, 0xA6, 0x48),
];

impl Palette {
    pub(crate) fn of(theme: Theme) -> Self {
        let white = RGBColor(0xFF, 0xFF, 0xFF);
        let grey = |level| RGBColor(level, level, level);
        match theme {
            Theme::Light => Self {
                background: white,
                text: grey(0x22),
                muted: grey(0x60),
                grid: grey(0xE4),
                series: ON_WHITE,
                parts: PARTS_ON_WHITE,
                line: 1.7,
                thin: 1.0,
            },
            Theme::Dark => Self {
                background: RGBColor(0x16, 0x19, 0x1D),
                text: grey(0xEC),
                muted: grey(0xA8),
                grid: RGBColor(0x33, 0x38, 0x3F),
                series: ON_BLACK,
                parts: PARTS_ON_BLACK,
                line: 1.7,
                thin: 1.0,
            },
            Theme::Print => Self {
                background: white,
                text: grey(0x00),
                muted: grey(0x40),
                grid: grey(0xDC),
                series: ON_WHITE,
                parts: PARTS_ON_WHITE,
                line: 1.1,
                thin: 0.7,
            },
        }
    }

    pub(crate) fn series(&self, style: usize) -> RGBColor {
        self.series[style % self.series.len()]
    }

    pub(crate) fn part(&self, part: Part) -> RGBColor {
        let place = Part::ALL.iter().position(|one| *one == part);
        self.parts[place.unwrap_or(0)]
    }

    /// `colour` with `share` of the background in it.
    pub(crate) fn faded(&self, colour: RGBColor, share: f64) -> RGBColor {
        mixed(colour, self.background, share)
    }
}

/// `first` with `share` of `second` in it.
pub(crate) fn mixed(first: RGBColor, second: RGBColor, share: f64) -> RGBColor {
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
    RGBColor(mix(first.0, second.0), mix(first.1, second.1), mix(first.2, second.2))
}

/// Viridis (Smith and van der Walt 2015), between whose steps colours are mixed.
const VIRIDIS: [RGBColor; 8] = [
    RGBColor(68, 1, 84),
    RGBColor(70, 50, 127),
    RGBColor(54, 92, 141),
    RGBColor(39, 127, 143),
    RGBColor(31, 162, 136),
    RGBColor(74, 194, 110),
    RGBColor(160, 219, 57),
    RGBColor(254, 232, 37),
];

/// The colour of a scale at `share` of its length: even steps to the eye, dark to light also in grey.
pub(crate) fn on_scale(share: f64) -> RGBColor {
    let place = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 } * (VIRIDIS.len() - 1) as f64;
    let (below, above) = (VIRIDIS[place.floor() as usize], VIRIDIS[place.ceil() as usize]);
    let rest = place.ceil() - place;
    let mix =
        |below: u8, above: u8| ((1.0 - rest) * f64::from(above) + rest * f64::from(below)).round() as u8;
    RGBColor(mix(below.0, above.0), mix(below.1, above.1), mix(below.2, above.2))
}

/// Of what is saturated: none of the scale's.
pub(crate) const SATURATED: RGBColor = RGBColor(0xE3, 0x1A, 0x1C);

/// Relative luminance, as in the Web Content Accessibility Guidelines 2.1.
pub(crate) fn luminance(colour: RGBColor) -> f64 {
    let linear = |level: u8| {
        let share = f64::from(level) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(colour.0) + 0.7152 * linear(colour.1) + 0.0722 * linear(colour.2)
}

/// Black or white, whichever is read more easily on `colour`.
pub(crate) fn legible_on(colour: RGBColor) -> RGBColor {
    // equal contrast with black and white: (L + 0.05)² = 1.05 * 0.05
    if luminance(colour) > 0.179 { RGBColor(0, 0, 0) } else { RGBColor(255, 255, 255) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEMES: [Theme; 3] = [Theme::Light, Theme::Dark, Theme::Print];

    fn contrast(one: RGBColor, other: RGBColor) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// `L*` of CIE 1976: even steps of grey to the eye.
    fn lightness(colour: RGBColor) -> f64 {
        let luminance = luminance(colour);
        if luminance > 0.008856 { 116.0 * luminance.cbrt() - 16.0 } else { 903.3 * luminance }
    }

    /// What the accessibility guidelines ask for: 3 for graphics, 4.5 for text.
    #[test]
    fn everything_stands_out_from_the_page() {
        for theme in THEMES {
            let palette = Palette::of(theme);
            assert!(contrast(palette.text, palette.background) >= 7.0);
            assert!(contrast(palette.muted, palette.background) >= 4.5);
            for colour in palette.series.into_iter().chain(palette.parts) {
                assert!(contrast(colour, palette.background) >= 3.0, "{theme:?} {colour:?}");
            }
        }
    }

    #[test]
    fn series_differ_in_grey() {
        for theme in THEMES {
            let series = Palette::of(theme).series;
            for (i, one) in series.iter().enumerate() {
                for other in &series[..i] {
                    let step = (lightness(*one) - lightness(*other)).abs();
                    assert!(step >= 9.0, "{theme:?} {one:?} {other:?}: {step}");
                }
            }
        }
    }

    /// What is seen without one kind of cones, in linear RGB (Machado, Oliveira and Fernandes 2009, severity 1):
    /// red, green, blue.
    const WITHOUT: [[[f64; 3]; 3]; 3] = [
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    /// `L*a*b*` of CIE 1976 under D65, seen through `matrix`.
    fn seen(colour: RGBColor, matrix: [[f64; 3]; 3]) -> [f64; 3] {
        let linear = [colour.0, colour.1, colour.2].map(|level| luminance(RGBColor(level, level, level)));
        let dot = |row: [f64; 3], v: [f64; 3]| row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
        let rgb = matrix.map(|row| dot(row, linear).clamp(0.0, 1.0));
        let x = dot([0.4124, 0.3576, 0.1805], rgb) / 0.9505;
        let y = dot([0.2126, 0.7152, 0.0722], rgb);
        let z = dot([0.0193, 0.1192, 0.9505], rgb) / 1.089;
        let [x, y, z] = [x, y, z].map(|t| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// A distance of 2 can just be seen; 15 are not confused.
    #[test]
    fn the_colour_blind_tell_series_apart() {
        for theme in THEMES {
            let series = Palette::of(theme).series;
            for matrix in WITHOUT {
                for (i, one) in series.iter().enumerate() {
                    for other in &series[..i] {
                        let (a, b) = (seen(*one, matrix), seen(*other, matrix));
                        let distance = (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt();
                        assert!(distance >= 15.0, "{theme:?} {one:?} {other:?}: {distance}");
                    }
                }
            }
        }
    }

    fn distance(one: [f64; 3], other: [f64; 3]) -> f64 {
        (0..3).map(|i| (one[i] - other[i]).powi(2)).sum::<f64>().sqrt()
    }

    /// Parts that touch differ in grey and to the colour-blind; none looks like a class.
    #[test]
    fn parts_are_told_apart() {
        use Part::{Arbitration, Blocking, Gaps, Input, Output, Sharing, Transfer, Waiting};
        const SEEN: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let causes = [Transfer, Blocking, Sharing, Waiting];
        let places = [Input, Arbitration, Output, Gaps, Waiting];
        for theme in THEMES {
            let palette = Palette::of(theme);
            for pair in causes.windows(2).chain(places.windows(2)) {
                let [one, other] = [palette.part(pair[0]), palette.part(pair[1])];
                let step = (lightness(one) - lightness(other)).abs();
                assert!(step >= 9.0, "{theme:?} {pair:?}: {step}");
                for matrix in WITHOUT {
                    let distance = distance(seen(one, matrix), seen(other, matrix));
                    assert!(distance >= 14.0, "{theme:?} {pair:?}: {distance}");
                }
            }
            for (part, class) in
                Part::ALL.into_iter().flat_map(|part| palette.series.map(|class| (part, class)))
            {
                let distance = distance(seen(palette.part(part), SEEN), seen(class, SEEN));
                assert!(distance >= 25.0, "{theme:?} {part:?} {class:?}: {distance}");
            }
        }
    }

    #[test]
    fn the_scale_grows_lighter_evenly() {
        let steps: Vec<f64> = (0..=20).map(|step| lightness(on_scale(f64::from(step) / 20.0))).collect();
        for pair in steps.windows(2) {
            assert!((2.0..6.5).contains(&(pair[1] - pair[0])), "{steps:?}");
        }
        assert_eq!(on_scale(f64::NAN), on_scale(0.0));
    }

    /// Saturated links are not taken for loaded ones, whatever cones are missing, and are seen on any page.
    #[test]
    fn saturation_is_not_on_the_scale() {
        const SEEN: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for step in 0..=100 {
            let colour = on_scale(f64::from(step) / 100.0);
            for matrix in WITHOUT.into_iter().chain([SEEN]) {
                let distance = distance(seen(colour, matrix), seen(SATURATED, matrix));
                assert!(distance >= 15.0, "{step}: {distance}");
            }
        }
        for theme in THEMES {
            assert!(contrast(SATURATED, Palette::of(theme).background) >= 3.0);
        }
    }

    #[test]
    fn cell_text_can_be_read() {
        for step in 0..=100 {
            let colour = on_scale(f64::from(step) / 100.0);
            assert!(contrast(legible_on(colour), colour) >= 4.5);
        }
    }
}
