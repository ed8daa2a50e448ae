//! The built-in scenarios: the systems behind the figures of [KYD05], and networks of other kinds, as commented files.

use super::check::Scenario;
use crate::document::{Document, nearest};

/// A built-in scenario.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The paper it is of, or another group of presets: the folder of its file.
    pub group: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// The file, comments and all.
    pub text: &'static str,
}

macro_rules! preset {
    ($group:literal, $name:literal, $about:literal) => {
        Preset {
            name: $name,
            group: $group,
            about: $about,
            text: include_str!(concat!("presets/", $group, "/", $name, ".toml")),
        }
    };
}

/// All built-in scenarios.
pub const PRESETS: &[Preset] = &[
    preset!("kyd05", "router16", "16-port router of Table 1: R1, R2, best effort (Figs. 4-6, 13)"),
    preset!("kyd05", "router16-3rt", "16-port router with three real-time classes and best effort"),
    preset!("kyd05", "router16-on-off", "16-port router with bursty real-time sources (Fig. 12a)"),
    preset!("kyd05", "cube5", "5-cube of 32 nodes: R1, R2, best effort (Fig. 7a)"),
    preset!("kyd05", "cube6", "6-cube of 64 nodes: R1, R2, best effort (Figs. 7b, 8, 9, 11a, 14)"),
    preset!("kyd05", "cube7", "7-cube of 128 nodes: R1, R2, best effort (Fig. 7c)"),
    preset!("kyd05", "cube6-be64", "6-cube with best-effort messages of 64 flits (Fig. 10)"),
    preset!("kyd05", "cube6-3rt", "6-cube with three real-time classes and best effort (Fig. 11b)"),
    preset!("kyd05", "cube6-on-off", "6-cube with bursty real-time sources (Fig. 12b)"),
    preset!("networks", "mesh4x4", "4x4 mesh of 16 nodes: real time and best effort"),
    preset!("networks", "torus8x8", "8x8 torus of 64 nodes, two virtual channels per class"),
    preset!("networks", "fat-mesh", "2x2 mesh of 16 nodes, two links between neighbours"),
    preset!("networks", "fat-tree", "4-ary 3-tree of 64 nodes, two virtual channels per class"),
    preset!("networks", "petersen", "graph of 10 switches from a file, up-down routing"),
    preset!("fabrics", "ndr-2048", "2,048 hosts, two levels of 64-port packet switches, 400 Gbps"),
    preset!(
        "fabrics",
        "leaf-spine",
        "8,192 hosts, leaves and spines of 128-port packet switches, links of 1 us"
    ),
    preset!("fabrics", "leaf-spine-quick", "the same with 128 hosts"),
    preset!("fabrics", "summit", "3,564 hosts, three levels of 36-port packet switches, 12.5 GB/s"),
    preset!("mediaworm", "mediaworm", "8-port router with video streams and best effort"),
    preset!("mediaworm", "mediaworm-quick", "the same with frames and intervals of a tenth"),
    preset!("router-nic", "router-nic", "8-port router that preempts, a mix in five phases (ISCA 2001)"),
    preset!("router-nic", "router-nic-quick", "the same with three phases of two frames"),
    preset!("admission", "admission", "5x5 mesh, connections that are admitted, best effort behind credits"),
    preset!("admission", "admission-quick", "the same with ON periods of a tenth"),
    preset!("admission", "admission-video", "8-port router, video streams that are admitted"),
    preset!("admission", "admission-video-quick", "the same with frames and intervals of a tenth"),
    preset!("admission", "congestion", "4x4 mesh, best effort behind credits of its interfaces"),
    preset!("admission", "congestion-quick", "the same at half of the load"),
    preset!("admission", "power", "4x4 mesh, connections and best effort below a power budget"),
    preset!("admission", "power-quick", "the same with ON periods of a tenth"),
    preset!(
        "recn",
        "recn64",
        "64 hosts, packet switches with RECN, a hot spot of 16 hosts (HPCA 2005, case 2)"
    ),
    preset!("recn", "recn64-quick", "the same for 300 us, hot from 100 to 150 us"),
    preset!("recn", "recn256", "256 hosts, packet switches with RECN, a hot spot of 64 hosts"),
    preset!("recn", "recn256-quick", "the same for 120 us, hot from 40 to 60 us"),
    preset!("recn", "recn512", "512 hosts, packet switches with RECN, a hot spot of 128 hosts"),
    preset!("recn", "recn512-quick", "the same for 60 us, hot from 20 to 30 us"),
    preset!("recn", "recn-san", "41 hosts and 23 disks, synthetic self-similar traffic, compression 40"),
];

impl Preset {
    /// Those of a group.
    pub fn of(group: &str) -> impl Iterator<Item = &'static Self> {
        PRESETS.iter().filter(move |preset| preset.group == group)
    }

    /// The preset called `name`.
    ///
    /// # Errors
    /// The nearest name there is, if one is near.
    pub fn find(name: &str) -> Result<&'static Self, Option<&'static str>> {
        PRESETS
            .iter()
            .find(|preset| preset.name == name)
            .ok_or_else(|| nearest(name, PRESETS.iter().map(|preset| preset.name)))
    }

    /// Its text, read.
    pub fn document(&self) -> Document {
        Document::parse(self.name, self.text).expect("a built-in scenario is sound (tested)")
    }

    /// Its scenario.
    pub fn scenario(&self) -> Scenario {
        self.document().scenario().expect("a built-in scenario is sound (tested)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Value;
    use crate::scenario::{ClassKind, ScenarioSpec};

    #[test]
    fn every_preset_is_sound() {
        PRESETS.iter().for_each(|preset| assert!(!preset.scenario().classes().is_empty()));
    }

    #[test]
    fn presets_of_the_paper_keep_the_proportions_of_section_4() {
        for preset in Preset::of("kyd05") {
            let scenario = preset.scenario();
            let rates: Vec<f64> = scenario
                .classes()
                .iter()
                .filter(|class| class.kind == ClassKind::RealTime)
                .map(|class| class.rate)
                .collect();
            // intergeneration times 1 : 2, or 1 : 1.5 : 2
            let ratios: &[f64] = if rates.len() == 2 { &[1.0, 2.0] } else { &[1.0, 1.5, 2.0] };
            assert_eq!(rates.len(), ratios.len(), "{}", preset.name);
            for (rate, ratio) in rates.iter().zip(ratios) {
                assert!((rates[0] / rate - ratio).abs() < 1e-9, "{}", preset.name);
            }
        }
    }

    /// A value of a real network has its document; one that none has is the middle of its range.
    #[test]
    fn every_value_of_a_fabric_has_a_document_or_a_range() {
        for preset in Preset::of("fabrics") {
            let (document, scenario) = (preset.document(), preset.scenario());
            let sources = &scenario.spec().sources;
            for table in ["network", "switch"] {
                let node = document.root().get(table).unwrap();
                let Value::Table(entries) = &node.value else { panic!("{}: {table}", preset.name) };
                for entry in entries.iter().filter(|entry| entry.key != "topology") {
                    let key = format!("{table}.{}", entry.key);
                    let source = sources.of(&key).unwrap_or_else(|| panic!("{}: {key}", preset.name));
                    let Some([low, high]) = &source.range else { continue };
                    let number = |text: &str| text.split(' ').next().unwrap().parse::<f64>().unwrap();
                    let middle = (number(low) * number(high)).sqrt();
                    let here = document.quantity(&key).unwrap().0;
                    assert!(
                        (here / middle - 1.0).abs() < 0.01,
                        "{}: {key} {here}, not {middle}",
                        preset.name
                    );
                }
            }
        }
    }

    #[test]
    fn router16_is_the_default() {
        assert_eq!(PRESETS[0].scenario().spec(), &ScenarioSpec::default());
    }
}
