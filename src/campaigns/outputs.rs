//! What a campaign ends with: figures, claims, the report and studies, all from its store.

use std::path::Path;

use flitwise_experiment::answer::Simulation;
use flitwise_figures::draw::Style;
use flitwise_language::scenario::{ScenarioSpec, Setting};
use flitwise_validation::campaign::Folder;
use flitwise_validation::store::Store;
use schemars::JsonSchema;
use serde::Serialize;

use super::file::Study;
use super::{ReportRequest, Session};
use crate::campaign::Campaign;
use crate::figure::{self, FigureRequest, write_and_say};
use crate::outcome::Exit;
use crate::output::{self, ClassColumns};
use crate::{place, report, simulate, verify};

/// The numbers of a study, as `flitwise campaign run` writes them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StudyDocument<'s> {
    /// `flitwise.study/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// What the campaign file calls it.
    name: &'s str,
    /// The scenario before any value was changed.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    scenario: ScenarioSpec,
    /// One per point of the grid, the last axis varying fastest.
    points: Vec<StudyRow<'s>>,
}

/// A point of a study.
#[derive(Debug, Serialize, JsonSchema)]
struct StudyRow<'s> {
    /// The values set here, coupled ones included.
    set: &'s [Setting],
    /// What was simulated. Times and threads are 0: they are those of many machines.
    simulation: Simulation,
}

/// Writes all outputs, in the order in which one machine would simulate for them, and prints the names of their files.
pub(super) fn write(session: Session, folder: &Folder, store: &Store) -> Result<(), Exit> {
    // each question finds what it would have found on one machine
    let session = session.with_store(&store.replay());
    let out = folder.out();
    place::directory("the folder", &out)?;
    let Session { file, campaign, report, .. } = &session;
    if !file.figures.is_empty() {
        figures(&file.figures, campaign, &out.join("figures"))?;
    }
    if !file.registry.claims.is_empty() {
        let document = verify::document(&file.registry, campaign)?;
        if document.partial {
            return Err(interrupted());
        }
        let mut json = serde_json::to_vec_pretty(&document)?;
        json.push(b'\n');
        write_and_say(&out.join("claims.json"), &json)?;
        write_and_say(&out.join("claims.csv"), &verify::csv(&document)?)?;
        write_and_say(&out.join("claims.md"), verify::markdown(&document).as_bytes())?;
    }
    if let Some(ReportRequest { args, scope, campaign }) = report {
        report::write_all(args, scope, campaign)?;
    }
    for study in &file.studies {
        write_study(study, campaign, &out.join("studies"))?;
    }
    Ok(())
}

fn interrupted() -> Exit {
    Exit::InterruptedAt("all blocks are done; outputs are missing, and the next run writes them".to_owned())
}

fn figures(wanted: &[FigureRequest], campaign: &Campaign, out: &Path) -> Result<(), Exit> {
    place::directory("the folder", out)?;
    let style = Style::default();
    let missing = figure::draw_each(wanted, campaign, &mut |one, found| {
        figure::drawn(one, &found, campaign, &style)?.write(out)
    })?;
    if missing.is_empty() { Ok(()) } else { Err(interrupted()) }
}

fn write_study(study: &Study, campaign: &Campaign, out: &Path) -> Result<(), Exit> {
    place::directory("the folder", out)?;
    let scenarios: Vec<_> = study.points.iter().map(|point| point.scenario.clone()).collect();
    let outcome = campaign.run(&scenarios).map_err(|faults| Exit::faults(&faults))?;
    let simulations: Option<Vec<Simulation>> = outcome.simulations.into_iter().collect();
    let mut simulations = simulations.ok_or_else(interrupted)?;
    simulations.iter_mut().for_each(without_times);
    write_and_say(&out.join(format!("{}.csv", study.name)), &csv(study, &simulations)?)?;
    let points = study.points.iter().zip(simulations);
    let document = StudyDocument {
        schema: "flitwise.study/1",
        flitwise_version: env!("CARGO_PKG_VERSION"),
        name: &study.name,
        scenario: study.grid.document.scenario().map_err(|faults| Exit::faults(&faults))?.spec().clone(),
        points: points.map(|(point, simulation)| StudyRow { set: &point.set, simulation }).collect(),
    };
    let mut json = serde_json::to_vec_pretty(&document)?;
    json.push(b'\n');
    write_and_say(&out.join(format!("{}.json", study.name)), &json)
}

/// The same numbers whatever the machine.
fn without_times(simulation: &mut Simulation) {
    let run = &mut simulation.run;
    (run.threads, run.simulation_seconds, run.wall_seconds, run.flit_hops_per_second) = (0, 0.0, 0.0, 0.0);
}

/// One row per point and class: the values set, then the columns of `flitwise simulate`.
fn csv(study: &Study, simulations: &[Simulation]) -> Result<Vec<u8>, Exit> {
    let mut columns = ClassColumns::default();
    study.points.iter().for_each(|point| columns.join(ClassColumns::of(&point.scenario)));
    let mut rows = csv::Writer::from_writer(Vec::new());
    let mut is_headed = false;
    for (point, simulation) in study.points.iter().zip(simulations) {
        for class in &simulation.classes {
            let set = point.set.iter().map(|setting| (setting.key.clone(), setting.value.clone()));
            let (heads, row): (Vec<_>, Vec<_>) = set.chain(simulate::fields(class, &columns)).unzip();
            if !is_headed {
                rows.write_record(heads)?;
                is_headed = true;
            }
            rows.write_record(row)?;
        }
    }
    output::csv_bytes(rows)
}
