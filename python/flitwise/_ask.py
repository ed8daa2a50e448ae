"""From Python's arguments to those of the command, and from what it prints to answers."""

from __future__ import annotations

import json
import logging
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, Union

from . import _engine
from ._records import Document

#: The name of a preset, a file, the text of one, or the same as a dictionary.
Scenario: TypeAlias = Union[str, os.PathLike[str], Mapping[str, Any]]
#: Is told the share of the work that is done, and where it stands in words; ``True``: a line on standard error.
Progress: TypeAlias = Union[Callable[[float, str], object], bool, None]

Kind = TypeVar("Kind", bound=Document)

_log = logging.getLogger("flitwise")


class Error(Exception):
    """Why there is no answer, or not all of it."""

    def __init__(self, message: str, faults: Sequence[str] = (), answer: Document | None = None) -> None:
        super().__init__(message)
        #: All that is wrong with the input: place, what was found, what is wanted.
        self.faults = list(faults)
        #: What there is nevertheless.
        self.answer = answer


class BadInput(Error, ValueError):
    """What was asked makes no sense; ``faults`` has all that is wrong with it."""


class NotConverged(Error, ArithmeticError):
    """A fixed point was not found."""


class NotWritten(Error, OSError):
    """A file could not be written."""


class NothingMeasured(Error):
    """The time was over before the end of the warm-up."""


class Interrupted(KeyboardInterrupt):
    """The work was interrupted; ``answer`` has what there was by then, and a store keeps what was complete."""

    def __init__(self, answer: Document | None = None) -> None:
        super().__init__("interrupted")
        self.answer = answer


_KINDS: dict[str, type[Error]] = {
    "bad-input": BadInput,
    "not-converged": NotConverged,
    "output": NotWritten,
    "nothing": NothingMeasured,
}


class Arguments:
    """Arguments of a command, and all that is wrong with what they were made of."""

    def __init__(self, *command: str) -> None:
        self.command = list(command)
        self.name: str | None = None
        self.text: str | None = None
        self.faults: list[str] = []

    def copy(self) -> Arguments:
        """The same, to which others are added."""
        other = Arguments(*self.command)
        other.name, other.text, other.faults = self.name, self.text, list(self.faults)
        return other

    def scenario(self, scenario: Scenario) -> Arguments:
        """Adds where the scenario comes from."""
        if isinstance(scenario, Mapping):
            self.text = self._toml(scenario)
            self.name = "scenario"
            self.command.append("-")
        elif isinstance(scenario, os.PathLike):
            self.command.append(os.fspath(scenario))
        elif not isinstance(scenario, str):
            found = f"{scenario!r} ({type(scenario).__name__})"
            self.faults.append(
                f"scenario: found {found}, wanted the name of a preset, a path, the text of a file or a dictionary"
            )
        elif "\n" in scenario or "=" in scenario:
            self.text, self.name = scenario, "scenario"
            self.command.append("-")
        elif scenario.endswith(".toml") or "/" in scenario or os.sep in scenario:
            self.command.append(scenario)
        else:
            self.command.append(f"--preset={scenario}")
        return self

    def _toml(self, scenario: Mapping[str, Any]) -> str:
        faults: list[str] = []
        plain = _plain(scenario, "", faults)
        if not faults:
            try:
                return _engine.to_toml(json.dumps(plain))
            except ValueError as error:
                faults.append(f"scenario: found a dictionary that is no file: {error}")
        self.faults += faults
        return ""

    def set(self, values: Mapping[str, Any] | None, option: str = "set") -> Arguments:
        """Adds values that are set, by their keys."""
        for key, value in self._pairs(option, values):
            text = self._literal(option, key, value)
            if text is not None:
                self.command.append(f"--{option}={key}={text}")
        return self

    def axes(self, over: Mapping[str, Any] | None, option: str = "over") -> Arguments:
        """Adds axes: ``(first, last, count)``, ``("log", first, last, count)``, or a list of values."""
        for key, axis in self._pairs(option, over):
            if isinstance(axis, str):
                self.command.append(f"--{option}={key}={axis}")
                continue
            values = list(axis) if isinstance(axis, Iterable) else [axis]
            texts = [self._literal(option, key, value) for value in values]
            if any(text is None for text in texts):
                continue
            is_range = isinstance(axis, tuple) and len(axis) == (4 if axis[:1] == ("log",) else 3)
            is_range = is_range and isinstance(_scalar(axis[-1]), int) and not isinstance(axis[-1], bool)
            if isinstance(axis, tuple) and not is_range:
                found = f"{key}={axis!r}"
                wanted = "(first, last, count), ('log', first, last, count) or a list of values"
                self.faults.append(f"{option}: found {found}, wanted {wanted}")
                continue
            self.command.append(f"--{option}={key}={(':' if is_range else ',').join(map(str, texts))}")
        return self

    def options(self, options: Mapping[str, Any]) -> Arguments:
        """Adds options by their names: ``max_time`` becomes ``--max-time``, ``store=False`` becomes ``--no-store``."""
        for name, value in options.items():
            option = name.rstrip("_").replace("_", "-")
            if option in ("store", "expected-errors") and value is False:
                option, value = f"no-{option}", True
            if option == "expected-errors" and value is True:
                continue  # it is the rule
            if value is None or value is False:
                continue
            if value is True:
                self.command.append(f"--{option}")
                continue
            values = value if isinstance(value, (list, tuple)) else [value]
            for one in values:
                text = self._literal(option, "", one)
                if text is not None:
                    self.command.append(f"--{option}={text}")
        return self

    def _pairs(self, option: str, values: Mapping[str, Any] | None) -> Iterable[tuple[str, Any]]:
        if values is None:
            return ()
        if not isinstance(values, Mapping):
            self.faults.append(f"{option}: found {values!r} ({type(values).__name__}), wanted a dictionary of keys")
            return ()
        for key in values:
            if not isinstance(key, str):
                self.faults.append(f"{option}: found the key {key!r}, wanted a text such as class.R1.rate")
        return [(key, value) for key, value in values.items() if isinstance(key, str)]

    def _literal(self, option: str, key: str, value: Any) -> str | None:
        """A value as the command reads it."""
        value = _scalar(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return repr(value)
        if isinstance(value, (int, str)):
            return str(value)
        if isinstance(value, os.PathLike):
            return str(os.fspath(value))
        if isinstance(value, (list, tuple)):
            within = [self._literal(option, key, one) for one in value]
            if all(one is not None for one in within):
                pairs = zip(value, within, strict=True)
                quoted = (json.dumps(one) if isinstance(one, str) else text for one, text in pairs)
                return f"[{', '.join(map(str, quoted))}]"
            return None
        place = f"{option}: {key}" if key else option
        self.faults.append(f"{place}: found {value!r} ({type(value).__name__}), wanted a number, a text or a list")
        return None

    def run(self, progress: Progress = None) -> tuple[str, Error | None, BaseException | None]:
        """Calls the command: what it printed, how it failed, and the exception that stopped it."""
        if self.faults:
            raise BadInput(_all(self.faults), self.faults)
        tell = _line if progress is True else progress or None
        if tell is not None and not callable(tell):
            fault = f"progress: found {tell!r}, wanted a function of a share and a text, or True"
            raise BadInput(fault, [fault])
        output, notes, failed, stopped = _engine.call(self.command, self.name, self.text, tell)
        if progress is True:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        for note in notes:
            _log.warning(note)
        failure = None
        if failed is not None and failed[0] not in ("differs", "interrupted"):
            kind, message, faults = failed
            failure = _KINDS.get(kind, Error)(message, faults)
        return output.decode(), failure, stopped

    def text_of(self, progress: Progress = None) -> str:
        """What the command prints."""
        output, failure, stopped = self.run(progress)
        if stopped is not None:
            raise Interrupted() if isinstance(stopped, KeyboardInterrupt) else stopped
        if failure is not None:
            raise failure
        return output

    def document(self, kind: type[Kind], progress: Progress = None) -> Kind:
        """What the command prints as a document, as an object."""
        asked = self.copy()
        asked.command.append("--format=json")
        output, failure, stopped = asked.run(progress)
        answer = _answer(kind, json.loads(output), self) if output else None
        if stopped is not None:
            raise Interrupted(answer) if isinstance(stopped, KeyboardInterrupt) else stopped
        if failure is not None:
            failure.answer = answer
            raise failure
        if answer is None:
            raise Error(f"flitwise {self.command[0]} printed nothing")
        return answer


def _answer(kind: type[Kind], fields: dict[str, Any], asked: Arguments) -> Kind:
    """The document as an object of its class: some commands have several documents."""
    from .documents import BY_SCHEMA

    found = BY_SCHEMA.get(str(fields.get("schema")).split("/")[0], kind)
    # of a subclass its own
    found = kind if issubclass(kind, found) else found
    return found(fields, asked)  # type: ignore[return-value]


def _all(faults: list[str]) -> str:
    return faults[0] if len(faults) == 1 else f"{len(faults)} faults\n" + "\n".join(faults)


def _scalar(value: Any) -> Any:
    """Python's number for one of numpy."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value


def _plain(value: Any, place: str, faults: list[str]) -> Any:
    """A scenario as JSON has it; what a file cannot hold is a fault at its place."""
    value = _scalar(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                faults.append(f"{place or 'scenario'}: found the key {key!r}, wanted a text")
        return {str(key): _plain(one, f"{place}.{key}" if place else str(key), faults) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one, f"{place}[{at}]", faults) for at, one in enumerate(value)]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value) or not isinstance(value, (bool, int, float, str)):
        found = "None" if value is None else f"{value!r} ({type(value).__name__})"
        faults.append(f"{place}: found {found}, wanted a finite number, a text, a truth value, a list or a dictionary")
    return value


def _line(share_done: float, words: str) -> None:
    print(f"\r\033[K{100 * share_done:3.0f} %  {words}", end="", file=sys.stderr, flush=True)
