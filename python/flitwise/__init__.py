"""Latency, deadline misses, loads and costs of cluster interconnects: models in microseconds, and the simulator.

>>> import flitwise as fw
>>> answer = fw.solve("router16", model="refined", set={"class.R1.rate": 0.004})
>>> round(answer["R1"].network_latency_cycles, 1)
42.8
>>> sweep = fw.sweep("router16", over={"class.R1.rate": (0.001, 0.008, 4)}, means_only=True)
>>> [point.saturated for point in sweep.points]
[False, False, False, False]

Every function takes a *scenario*: the name of a preset (:func:`presets`), a file, the text of one, or the same as a
dictionary. ``set`` changes values by their keys. Other options are those of the command ``flitwise`` with underscores:
``precision=0.02``, ``max_messages=1e5``, ``require="R1: miss(47) <= 0.3"``. Answers have the fields of the command's
JSON as attributes, with units in their names. All are computed in this process, without the interpreter's lock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import documents as documents
from ._ask import (
    Arguments,
    BadInput,
    Error,
    Interrupted,
    NotConverged,
    NothingMeasured,
    NotWritten,
    Progress,
    Scenario,
)
from ._engine import VERSION as __version__
from ._engine import Table
from ._engine import figures as _figures
from ._engine import presets as _presets
from ._pictures import Explanation, Figure, Picture
from ._records import Document, Record
from .documents import (
    AgainstDocument,
    CampaignPlanDocument,
    CampaignStatusDocument,
    ChooseDocument,
    CompareDocument,
    MaxLoadDocument,
    RegionDocument,
    SensitivityDocument,
    SimulateDocument,
    SolveDocument,
    StationDocument,
    SweepDocument,
    VerifyDocument,
)

__all__ = [
    "BadInput",
    "Document",
    "Error",
    "Explanation",
    "Figure",
    "FigureLine",
    "Interrupted",
    "NotConverged",
    "NotWritten",
    "NothingMeasured",
    "Picture",
    "PresetLine",
    "Record",
    "Sweep",
    "Table",
    "__version__",
    "against",
    "campaign_plan",
    "campaign_status",
    "choose",
    "command",
    "compare",
    "documents",
    "explain",
    "figure",
    "figures",
    "max_load",
    "preset",
    "presets",
    "region",
    "schema",
    "sensitivity",
    "simulate",
    "solve",
    "station",
    "sweep",
    "verify",
]

Settings = Mapping[str, Any]


class PresetLine(NamedTuple):
    """A built-in scenario."""

    #: As functions take it.
    name: str
    #: The paper that it is of.
    group: str
    #: What it is.
    about: str


class FigureLine(NamedTuple):
    """A built-in figure."""

    #: As :func:`figure` takes it.
    number: str
    #: What it shows.
    title: str


class Sweep(SweepDocument):
    """The answer of :func:`sweep`; :meth:`plot` draws it."""

    __slots__ = ()
    _shown = ("model", "class", "network_latency_cycles", "waiting_cycles", "total_latency_cycles", "saturated")

    def plot(self, file: str | os.PathLike[str] | None = None) -> Picture:
        """The network latency along the first axis, as ``flitwise sweep --plot`` draws it; also into a file.

        The points are computed once more; anchors come from the store, if there is one.
        """
        return Picture.drawn(self._question, "plot", file)


def solve(scenario: Scenario = "router16", *, set: Settings | None = None, **options: Any) -> SolveDocument:
    """The answer of a model: ``flitwise solve``.

    >>> network = {"topology": "router", "ports": 8}
    >>> mine = {"network": network, "class": [{"name": "A", "kind": "best-effort", "rate": 0.002}]}
    >>> fw.solve(mine).model
    'refined'
    """
    return Arguments("solve").scenario(scenario).set(set).options(options).document(SolveDocument)


def sweep(
    scenario: Scenario = "router16",
    *,
    over: Settings,
    set: Settings | None = None,
    couple: Mapping[str, str] | None = None,
    progress: Progress = None,
    **options: Any,
) -> Sweep:
    """The answers at every point of a grid: ``flitwise sweep``.

    ``over`` has the axes: ``(first, last, count)``, ``("log", first, last, count)`` or a list of values. ``couple``
    ties a key to another: ``{"class.R2.rate": "class.R1.rate/2"}``. ``model="anchored"`` simulates some points.

    >>> fw.sweep(over={"class.R1.rate": [0.001, 0.002]}).rows()[0]["class.R1.rate"]
    0.001
    """
    asked = Arguments("sweep")
    if isinstance(over, Mapping) and not over:
        asked.faults.append("over: found no axis, wanted one such as {'class.R1.rate': (0.001, 0.008, 20)}")
    asked.scenario(scenario).set(set).axes(over).set(couple, "couple").options(options)
    return asked.document(Sweep, progress)


def simulate(
    scenario: Scenario = "router16", *, set: Settings | None = None, progress: Progress = None, **options: Any
) -> SimulateDocument:
    """What the simulator measures, with 95 % intervals: ``flitwise simulate``.

    >>> answer = fw.simulate(precision=0.2, max_messages=1000)
    >>> 36 < answer["R1"].network_latency_cycles.mean < 60
    True
    """
    asked = Arguments("simulate").scenario(scenario).set(set).options(options)
    return asked.document(SimulateDocument, progress)


def compare(
    scenario: Scenario = "router16",
    *,
    over: Settings | None = None,
    set: Settings | None = None,
    couple: Mapping[str, str] | None = None,
    progress: Progress = None,
    **options: Any,
) -> CompareDocument:
    """Models beside the simulation, with a verdict on every quantity: ``flitwise compare``."""
    asked = Arguments("compare").scenario(scenario).set(set).axes(over).set(couple, "couple").options(options)
    return asked.document(CompareDocument, progress)


def against(
    scenario: Scenario = "router16",
    *,
    measured: str | os.PathLike[str],
    fit: Mapping[str, str] | None = None,
    set: Settings | None = None,
    **options: Any,
) -> AgainstDocument:
    """Models beside the numbers of a file, with a verdict on each: ``flitwise compare --against``.

    ``fit`` gives ranges of numbers that are not known: ``{"router.pipeline_stages": "1..8"}``.
    """
    asked = Arguments("compare").scenario(scenario).set(set).set(fit, "fit")
    return asked.options({**options, "against": os.fspath(measured)}).document(AgainstDocument)


def max_load(
    scenario: Scenario = "router16", *, set: Settings | None = None, progress: Progress = None, **options: Any
) -> MaxLoadDocument:
    """The highest load at which all requirements hold: ``flitwise plan max-load``.

    >>> fw.max_load(require="R1: miss(47) <= 0.3").factor > 1
    True
    """
    asked = Arguments("plan", "max-load").scenario(scenario).set(set).options(options)
    return asked.document(MaxLoadDocument, progress)


def choose(
    scenario: Scenario = "router16",
    *,
    vary: Settings,
    set: Settings | None = None,
    progress: Progress = None,
    **options: Any,
) -> ChooseDocument:
    """The values of keys that serve an objective best, requirements kept: ``flitwise plan choose``."""
    asked = Arguments("plan", "choose").scenario(scenario).set(set).axes(vary, "vary").options(options)
    return asked.document(ChooseDocument, progress)


def region(
    scenario: Scenario = "router16", *, set: Settings | None = None, progress: Progress = None, **options: Any
) -> RegionDocument:
    """Which pairs of rates are admissible: ``flitwise plan region``."""
    asked = Arguments("plan", "region").scenario(scenario).set(set).options(options)
    return asked.document(RegionDocument, progress)


def sensitivity(
    scenario: Scenario = "router16", *, set: Settings | None = None, progress: Progress = None, **options: Any
) -> SensitivityDocument:
    """How much every quantity changes with every parameter: ``flitwise sensitivity``."""
    asked = Arguments("sensitivity").scenario(scenario).set(set).options(options)
    return asked.document(SensitivityDocument, progress)


def explain(scenario: Scenario = "router16", *, set: Settings | None = None, **options: Any) -> Explanation:
    """The derivation of an answer with the scenario's own numbers: ``flitwise explain``; a page in a notebook."""
    return Explanation(Arguments("explain").scenario(scenario).set(set).options(options))


def figure(
    name: str | os.PathLike[str] | None = None,
    *,
    preset: str | None = None,
    progress: Progress = None,
    **options: Any,
) -> Figure:
    """A built-in figure (:func:`figures`), one of a file of your own, or one of a preset: ``flitwise figure``."""
    asked = Arguments("figure")
    if name is not None:
        asked.command.append(os.fspath(name))
    return Figure.of(asked.options({"preset": preset, **options}), progress)


def station(kind: str, *, over: Settings | None = None, **options: Any) -> StationDocument:
    """A station of the textbook: ``flitwise station``.

    >>> fw.station("mm1", rate=0.5, mean=1).to_dict()["schema"].split("/")[0]
    'flitwise.station'
    """
    return Arguments("station", kind).axes(over).options(options).document(StationDocument)


def verify(*names: str, progress: Progress = None, **options: Any) -> VerifyDocument:
    """Verdicts on claims, all or those named: ``flitwise verify``."""
    asked = Arguments("verify").options({"only": list(names), **options})
    return asked.document(VerifyDocument, progress)


def campaign_plan(file: str | os.PathLike[str]) -> CampaignPlanDocument:
    """The independent blocks of a campaign: ``flitwise campaign plan``.

    ``fw.command("campaign", "run", file)`` works it off in this process; other processes are started with the command.
    """
    return Arguments("campaign", "plan", os.fspath(file)).document(CampaignPlanDocument)


def campaign_status(folder: str | os.PathLike[str]) -> CampaignStatusDocument:
    """Which blocks are done, running, lost and left, and the time left: ``flitwise campaign status``."""
    return Arguments("campaign", "status", os.fspath(folder)).document(CampaignStatusDocument)


def presets() -> list[PresetLine]:
    """Built-in scenarios."""
    return [PresetLine(*line) for line in _presets()]


def preset(name: str) -> str:
    """The file of a built-in scenario, comments and all."""
    return Arguments("presets", "show", name).text_of()


def figures() -> list[FigureLine]:
    """Built-in figures."""
    return [FigureLine(*line) for line in _figures()]


def schema(of: str = "scenario") -> dict[str, Any]:
    """The JSON schema of scenario files, or of an answer such as ``"solve"``."""
    found: dict[str, Any] = json.loads(Arguments("schema", of).text_of())
    return found


def command(*arguments: str | os.PathLike[str], progress: Progress = None, **options: Any) -> str:
    """What any command prints: ``fw.command("report", quick=True, out="pages")``.

    >>> print(fw.command("presets", "list").splitlines()[0].split()[0])
    router16
    """
    return Arguments(*(os.fspath(one) for one in arguments)).options(options).text_of(progress)
