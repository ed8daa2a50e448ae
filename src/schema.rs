//! `flitwise schema`.

use flitwise_experiment::answer::SimulateDocument;
use flitwise_language::scenario::ScenarioSpec;
use flitwise_models::document::{DistributionDocument, SolveDocument};
use schemars::schema_for;

use crate::accuracy::{AccuracyDocument, AnchoredAccuracyDocument};
use crate::args::SchemaOf;
use crate::campaigns::{CampaignPlanDocument, CampaignStatusDocument, StudyDocument};
use crate::compare::{AgainstDocument, CompareDocument};
use crate::explain::ExplainDocument;
use crate::figure::FigureDocument;
use crate::outcome::Exit;
use crate::output;
use crate::plan::PlanDocument;
use crate::presets::PresetDocument;
use crate::sensitivity::SensitivityDocument;
use crate::solve::LoadsDocument;
use crate::station::StationDocument;
use crate::sweep::SweepDocument;
use crate::verify::VerifyDocument;

pub(crate) fn run(of: SchemaOf) -> Result<(), Exit> {
    let schema = match of {
        SchemaOf::Scenario => schema_for!(ScenarioSpec),
        SchemaOf::Solve => schema_for!(SolveDocument),
        SchemaOf::Distribution => schema_for!(DistributionDocument),
        SchemaOf::Loads => schema_for!(LoadsDocument),
        SchemaOf::Sweep => schema_for!(SweepDocument),
        SchemaOf::Sensitivity => schema_for!(SensitivityDocument),
        SchemaOf::Simulate => schema_for!(SimulateDocument),
        SchemaOf::Compare => schema_for!(CompareDocument),
        SchemaOf::Against => schema_for!(AgainstDocument),
        SchemaOf::Plan => schema_for!(PlanDocument<'static>),
        SchemaOf::Verify => schema_for!(VerifyDocument),
        SchemaOf::Accuracy => schema_for!(AccuracyDocument),
        SchemaOf::AnchoredAccuracy => schema_for!(AnchoredAccuracyDocument),
        SchemaOf::Figure => schema_for!(FigureDocument),
        SchemaOf::Explain => schema_for!(ExplainDocument),
        SchemaOf::Station => schema_for!(StationDocument),
        SchemaOf::CampaignPlan => schema_for!(CampaignPlanDocument),
        SchemaOf::CampaignStatus => schema_for!(CampaignStatusDocument),
        SchemaOf::Preset => schema_for!(PresetDocument),
        SchemaOf::Study => schema_for!(StudyDocument<'static>),
    };
    output::write_json(&schema)
}
