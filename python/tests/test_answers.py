"""Answers are the command's, to the last digit, as objects and as tables."""

import copy
import pickle
from pathlib import Path

import pytest

import flitwise as fw

COARSE = {"precision": 0.2, "max_messages": 2000}
TYPED = ["--precision=0.2", "--max-messages=2000"]
#: Numbers of a simulation with six pipeline stages.
MEASURED = str(Path(__file__).parents[2] / "tests" / "golden" / "against.in" / "measured.csv")
#: What a clock decides.
CLOCKS = {"wall_seconds", "simulation_seconds", "flit_hops_per_second"}


def timeless(value):
    """The same without what a clock decides."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key not in CLOCKS}
    return [timeless(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("preset", [line.name for line in fw.presets()])
def test_every_preset_has_the_answer_of_the_command(preset, printed):
    try:
        answer = fw.solve(preset)
    except fw.NotConverged:
        pytest.fail(preset)
    except fw.BadInput as refusal:
        assert "model" in str(refusal)
        return
    assert answer.to_dict() == printed("solve", "--preset", preset)


CASES = [
    (lambda: fw.solve("router16", model="published", set={"class.R1.rate": 0.004}, details=True),
     ["solve", "--model=published", "--set=class.R1.rate=0.004", "--details"]),
    (lambda: fw.solve("router16", distribution=True), ["solve", "--distribution"]),
    (lambda: fw.solve("cube6", means_only=True, expected_errors=False),
     ["solve", "--preset=cube6", "--means-only", "--no-expected-errors"]),
    (lambda: fw.sweep(over={"class.R1.rate": [0.002, 0.004]}, expected_errors=False),
     ["sweep", "--over=class.R1.rate=0.002,0.004", "--no-expected-errors"]),
    (lambda: fw.sweep(over={"class.R1.rate": (0.001, 0.008, 5)}), ["sweep", "--over=class.R1.rate=0.001:0.008:5"]),
    (lambda: fw.sweep(over={"class.R1.rate": ("log", 1e-4, 1e-2, 4), "router.buffer_flits": [8, 32]}, means_only=True),
     ["sweep", "--over=class.R1.rate=log:0.0001:0.01:4", "--over=router.buffer_flits=8,32", "--means-only"]),
    (lambda: fw.sweep(over={"class.R1.rate": [0.002, 0.004]}, couple={"class.R2.rate": "class.R1.rate/2"}),
     ["sweep", "--over=class.R1.rate=0.002,0.004", "--couple=class.R2.rate=class.R1.rate/2"]),
    (lambda: fw.simulate("mesh4x4", **COARSE, seed=7), ["simulate", "--preset=mesh4x4", *TYPED, "--seed=7"]),
    (lambda: fw.compare(over={"class.R1.rate": [0.002, 0.006]}, store=False, **COARSE),
     ["compare", "--over=class.R1.rate=0.002,0.006", "--no-store", *TYPED]),
    (lambda: fw.against("router16", measured=MEASURED, model="refined", fit={"router.pipeline_stages": "1..12"}),
     ["compare", "--preset=router16", f"--against={MEASURED}", "--model=refined",
      "--fit=router.pipeline_stages=1..12"]),
    (lambda: fw.max_load(require=["R1: miss(47) <= 0.3", "BE: total <= 400"], scale="class.R1.rate,class.R2.rate"),
     ["plan", "max-load", "--require=R1: miss(47) <= 0.3", "--require=BE: total <= 400",
      "--scale=class.R1.rate,class.R2.rate"]),
    (lambda: fw.choose(vary={"router.buffer_flits": [4, 8, 16]}, minimise="BE: total"),
     ["plan", "choose", "--vary=router.buffer_flits=4,8,16", "--minimise=BE: total"]),
    (lambda: fw.region(axes="class.R1.rate,class.BE.rate", points=3),
     ["plan", "region", "--axes=class.R1.rate,class.BE.rate", "--points=3"]),
    (lambda: fw.sensitivity(parameter="class.R1.rate"), ["sensitivity", "--parameter=class.R1.rate"]),
    (lambda: fw.explain(class_="R1").document, ["explain", "--class=R1"]),
    (lambda: fw.station("mg1", rate=0.02, mean=32, over={"rate": [0.01, 0.02]}, scv=1),
     ["station", "mg1", "--rate=0.02", "--mean=32", "--scv=1", "--over=rate=0.01,0.02"]),
    (lambda: fw.verify("fig04a-agreement", store=False, **COARSE),
     ["verify", "--only=fig04a-agreement", "--no-store", *TYPED]),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "typed"), CASES, ids=[typed[0] for _, typed in CASES])
def test_every_question_has_the_answer_of_the_command(asked, typed, printed):
    answer = asked()
    assert timeless(answer.to_dict()) == timeless(printed(*typed))
    assert isinstance(answer, fw.Document)
    assert "flitwise" in repr(answer)
    assert "<table>" in answer._repr_html_()


def test_anchors_come_from_the_store_and_the_plot_is_the_command_s(program, tmp_path, printed):
    import subprocess

    asked = {"over": {"class.R1.rate": (0.002, 0.006, 3)}, "model": "anchored", "means_only": True, **COARSE}
    sweep = fw.sweep(**asked)
    typed = ["sweep", "--over=class.R1.rate=0.002:0.006:3", "--model=anchored", "--means-only", *TYPED]
    again = printed(*typed)
    assert [one["classes"] for one in again["points"]] == [one["classes"] for one in sweep.to_dict()["points"]]
    assert all(anchor["from_store"] for anchor in again["anchoring"]["anchors"])
    picture = sweep.plot(tmp_path / "mine.svg")
    subprocess.run([program, *typed, f"--plot={tmp_path / 'theirs.svg'}"], check=True, capture_output=True)
    assert picture.svg == (tmp_path / "mine.svg").read_text() == (tmp_path / "theirs.svg").read_text()
    rows = sweep.rows()
    assert rows[0]["network_latency_cycles_lower_95"] < rows[0]["network_latency_cycles"]


def test_a_figure_is_the_command_s(program, tmp_path):
    import subprocess

    figure = fw.figure("4a", **COARSE)
    subprocess.run([program, "figure", "4a", f"--out={tmp_path}", *TYPED], check=True, capture_output=True)
    (svg,) = tmp_path.glob("*.svg")
    (csv,) = tmp_path.glob("*.csv")
    assert (figure.svg, figure.csv) == (svg.read_text(), csv.read_text())
    assert figure.document.title in repr(figure)


def test_fields_have_units_in_their_names_and_lead_on():
    answer = fw.solve("router16", set={"class.*.rate": 0.004})
    latency = answer["R1"].network_latency_cycles
    assert latency == answer.classes[0].network_latency_cycles > 36
    assert answer["R1"].latency_percentiles_cycles.p99_9 == answer["R1"]["latency_percentiles_cycles"]["p99.9"]
    assert answer["R1"].deadlines[0].miss_probability < 1
    # left out, since there are no frames
    assert answer["R1"].frames is None
    assert fw.simulate(**COARSE)["R1"].network_latency_cycles.half_width_95 > 0
    with pytest.raises(AttributeError, match="has no field speed; it has name, kind, network_latency_cycles"):
        print(answer["R1"].speed)
    with pytest.raises(AttributeError, match="cannot be set"):
        answer.model = "mine"
    with pytest.raises(KeyError):
        answer["R9"]
    assert pickle.loads(pickle.dumps(answer)) == answer == copy.deepcopy(answer)


def test_a_scenario_is_a_preset_a_file_a_text_or_a_dictionary(tmp_path):
    text = fw.preset("router16")
    file = tmp_path / "mine.toml"
    file.write_text(text)
    mine = {
        "name": "16-port router",
        "network": {"topology": "router", "ports": 16},
        "class": [{"name": "A", "kind": "real-time", "rate": 0.002, "deadlines": [42, 47]}],
    }
    assert fw.solve("router16") == fw.solve(text) == fw.solve(file) == fw.solve(str(file))
    assert fw.solve(mine).classes[0].name == "A"


def test_tables_have_typed_columns_that_are_shared_not_copied():
    polars, pandas, pyarrow = map(pytest.importorskip, ("polars", "pandas", "pyarrow"))
    sweep = fw.sweep(over={"class.R1.rate": (0.001, 0.03, 4)})
    frame = sweep.to_polars()
    assert frame.shape == (12, frame.width)
    assert frame["class.R1.rate"].dtype == polars.Float64
    assert frame["saturated"].dtype == polars.Boolean
    assert frame["class"].to_list()[:3] == ["R1", "R2", "BE"]
    # beyond saturation there is no latency
    assert frame.filter(polars.col("saturated"))["network_latency_cycles"].null_count() > 0
    assert sweep.to_pandas().shape == frame.shape == (len(sweep.to_arrow()), len(sweep.to_arrow().columns))
    table = sweep.to_arrow()
    first, second = (pyarrow.table(table)["network_latency_cycles"].chunk(0).buffers()[1].address for _ in range(2))
    assert first == second
    deadlines = sweep.to_polars("deadlines")
    assert set(deadlines["deadline_cycles"]) == {42, 47}
    assert pandas.DataFrame.from_arrow(fw.simulate(**COARSE))["network_latency_cycles_half_width_95"].min() > 0


def test_tables_refuse_what_is_no_column():
    with pytest.raises(TypeError, match="column a: found a value of .*list"):
        fw.Table([("a", [[1]])])
    with pytest.raises(ValueError, match="all columns in a record batch must have the same length"):
        fw.Table([("a", [1]), ("b", [])])
    with pytest.raises(TypeError):
        fw.Table([("a", [1, "x"])])


def test_what_is_listed_can_be_asked_for():
    assert {line.group for line in fw.presets()} >= {"kyd05", "mediaworm", "recn"}
    assert "4a" in [line.number for line in fw.figures()]
    assert fw.schema("solve")["title"] == "SolveDocument"
