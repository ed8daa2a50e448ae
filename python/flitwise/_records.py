"""Documents of the command as objects, and tables of them."""

from __future__ import annotations

import html
import json
import keyword
import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ._engine import Table


def _attribute(key: str) -> str:
    """A key of JSON as the name of an attribute: ``p99.9`` becomes ``p99_9``, ``class`` becomes ``class_``."""
    name = re.sub(r"\W", "_", key)
    return name + "_" if keyword.iskeyword(name) else name


class Record:
    """An object of a document; its fields are attributes, named as the command names them, with their units.

    What does not exist is ``None``. Fields of JSON that are no names in Python have ``_`` in place of what is none:
    ``p99_9``, ``class_``. ``record["p99.9"]`` takes the name as it is.
    """

    __slots__ = ("_fields",)

    #: Types of fields that are records or lists of records.
    _nested: ClassVar[dict[str, type[Record]]] = {}
    #: Names of all attributes that a document may have.
    _known: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        cls._known |= {name for name in cls.__annotations__ if not name.startswith("_")}

    def __init__(self, fields: dict[str, Any]) -> None:
        object.__setattr__(self, "_fields", fields)

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries, lists, numbers and texts."""
        fields: dict[str, Any] = json.loads(json.dumps(self._fields))
        return fields

    def _wrapped(self, key: str) -> Any:
        value = self._fields[key]
        kind = self._nested.get(key, Record)
        if isinstance(value, dict):
            return kind(value)
        if isinstance(value, list):
            return [kind(one) if isinstance(one, dict) else one for one in value]
        return value

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            for key in (name, *self._fields):
                if key in self._fields and name == _attribute(key):
                    return self._wrapped(key)
            # what a document leaves out where there is none of it
            if name in self._known:
                return None
        has = ", ".join(map(_attribute, self._fields))
        raise AttributeError(f"{type(self).__name__} has no field {name}; it has {has}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is an answer: its fields cannot be set")

    def __getitem__(self, key: str) -> Any:
        if key in self._fields:
            return self._wrapped(key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return key in self._fields

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *map(_attribute, self._fields)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields,)

    def __repr__(self) -> str:
        shown = ", ".join(f"{_attribute(key)}={_short(value)}" for key, value in self._fields.items())
        return f"{type(self).__name__}({shown})"


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{..}"
    if isinstance(value, list):
        return f"[{len(value)}]" if value else "[]"
    return repr(value)


class Document(Record):
    """An answer of the command."""

    __slots__ = ("_question",)

    #: Where the rows of its table are: lists within lists.
    _rows: ClassVar[tuple[str, ...]] = ("classes",)
    #: Fields on the way there that every row repeats.
    _repeated: ClassVar[tuple[str, ...]] = ("model",)
    #: Columns that are shown, beside values that are set; none: all that have a value.
    _shown: ClassVar[tuple[str, ...]] = ()

    def __init__(self, fields: dict[str, Any], question: Any = None) -> None:
        super().__init__(fields)
        object.__setattr__(self, "_question", question)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields, self._question)

    def __getitem__(self, key: str) -> Any:
        """The class of that name, or else the field."""
        for one in self._fields.get("classes", ()):
            if one.get("name") == key:
                return self._nested.get("classes", Record)(one)
        return super().__getitem__(key)

    def rows(self, of: str | None = None) -> list[dict[str, Any]]:
        """Rows of the answer's table, flat: a row per class, and at each point where there are several.

        Fields of fields have both names (``saturation_at_load_factor``); an estimate's mean or value has the name of
        the quantity alone, its interval both (``waiting_cycles_half_width_95``). Values set at a point have the keys as
        names. ``of`` names a list within the rows, such as ``deadlines``: then there is a row for each of its entries.
        """
        path = self._rows if of is None else (*self._rows, of)
        return list(_rows_of(self._fields, path, {}, self._repeated))

    def to_arrow(self, of: str | None = None) -> Table:
        """The rows as columns; polars, pandas 3, pyarrow and others take it without a copy."""
        return _table(self.rows(of))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_polars(self, of: str | None = None) -> Any:
        """The rows as a data frame of polars, which must be installed."""
        import polars

        return polars.DataFrame(self.to_arrow(of))

    def to_pandas(self, of: str | None = None) -> Any:
        """The rows as a data frame of pandas, which must be installed; before its version 3 pyarrow, too."""
        import pandas

        if hasattr(pandas.DataFrame, "from_arrow"):
            return pandas.DataFrame.from_arrow(self.to_arrow(of))
        import pyarrow

        return pyarrow.table(self.to_arrow(of)).to_pandas()

    def _title(self) -> str:
        scenario = self._fields.get("scenario") or {}
        what = str(self._fields.get("schema", "")).split("/")[0].replace("flitwise.", "flitwise ")
        words = [what, str(scenario.get("name", "")), str(self._fields.get("model") or "")]
        return ", ".join(filter(None, words))

    def _grid(self) -> tuple[list[str], list[list[str]]]:
        """Heads and rows of what is shown: of classes alone a column for each, else a row for each."""
        # of a document without rows, what it says of the whole
        rows = self.rows() or [_flat(self._fields)]
        columns = [name for name in _names(rows) if any(row.get(name) is not None for row in rows)]
        if self._shown:
            keys = {key for point in self._fields.get("points", ()) for key in _settings(point)}
            columns = [name for name in columns if name in self._shown or name in keys]
        if self._rows != ("classes",):
            return columns, [[_text(row.get(name)) for name in columns] for row in rows]
        shown = [name for name in columns if name not in ("class", "model") and not name.endswith(_INTERVALS)]
        heads = ["", *(str(row.get("class")) for row in rows)]
        return heads, [[name, *(_with_interval(row, name) for row in rows)] for name in shown]

    def __repr__(self) -> str:
        heads, rows = self._grid()
        kept = rows[:_MOST_SHOWN]
        widths = [max(len(row[at]) for row in [heads, *kept]) for at in range(len(heads))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in [heads, *kept]
        ]
        more = [f"and {len(rows) - len(kept)} rows more"] if len(rows) > len(kept) else []
        return "\n".join([self._title(), *lines, *more, *self._remarks()])

    def _repr_html_(self) -> str:
        heads, rows = self._grid()
        kept = rows[:_MOST_SHOWN]
        head = "".join(f"<th scope=col>{html.escape(one)}</th>" for one in heads)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(one)}</td>" for one in row) + "</tr>" for row in kept)
        more = f"<p>and {len(rows) - len(kept)} rows more</p>" if len(rows) > len(kept) else ""
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self._remarks())
        notes = f"<ul>{notes}</ul>" if notes else ""
        caption = html.escape(self._title())
        table = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f'<div style="overflow-x:auto">{table}{more}{notes}</div>'

    def _remarks(self) -> list[str]:
        notes = self._fields.get("notes")
        return [str(note) for note in notes] if isinstance(notes, list) else []


#: Rows of a table that are shown; data frames have them all.
_MOST_SHOWN = 60
#: Ends of names of columns that belong to another one.
_INTERVALS = ("_half_width_95", "_lower_95", "_upper_95", "_messages")


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.5g}"
    return str(value)


def _with_interval(row: dict[str, Any], name: str) -> str:
    width = row.get(f"{name}_half_width_95")
    return _text(row.get(name)) + (f" ±{width:.2g}" if isinstance(width, float) else "")


def _number(text: str) -> Any:
    """The value of a setting: a number, if it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _rows_of(
    record: dict[str, Any], path: tuple[str, ...], outer: dict[str, Any], repeated: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    if not path:
        yield {**outer, **_flat(record)}
        return
    within = {**outer, **_settings(record)}
    for name in repeated:
        if name in record:
            within[name] = record[name]
    if "class" in record and "name" not in repeated:
        within["class"] = record["class"]
    intervals = record.get("intervals_95")
    entries = record.get(path[0])
    entries = entries if isinstance(entries, list) else [] if entries is None else [entries]
    for at, entry in enumerate(entries):
        if path[0] == "classes":
            # as the command's CSV calls it
            entry = {"class" if key == "name" else key: value for key, value in entry.items()}
            if isinstance(intervals, list) and at < len(intervals):
                entry = _joined(entry, intervals[at])
        yield from _rows_of(entry, path[1:], within, repeated)


def _settings(record: dict[str, Any]) -> dict[str, Any]:
    """Values that a record says are set, by their keys."""
    found: dict[str, Any] = {}
    for value in record.values():
        if (
            isinstance(value, list)
            and value
            and all(isinstance(one, dict) and set(one) == {"key", "value"} for one in value)
        ):
            found.update((one["key"], _number(one["value"])) for one in value)
    return found


def _joined(answer: dict[str, Any], intervals: dict[str, Any]) -> dict[str, Any]:
    """A class with the intervals of its quantities beside them."""
    joined: dict[str, Any] = {}
    for key, value in answer.items():
        interval = intervals.get(key)
        joined[key] = (
            {"value": value, **interval} if isinstance(interval, dict) and not isinstance(value, dict) else value
        )
    joined["beyond_anchors"] = intervals.get("beyond_anchors")
    return joined


def _flat(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat = _settings(record)
    for key, value in record.items():
        name = f"{prefix}_{key}" if prefix and key not in ("mean", "value") else prefix or key
        if isinstance(value, dict):
            if key not in ("reasons", "scenario"):
                flat.update(_flat(value, name))
        elif not isinstance(value, list):
            flat[name] = value
    return flat


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """Columns of the rows, in the order in which they first come."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _table(rows: list[dict[str, Any]]) -> Table:
    return Table([(name, _uniform([row.get(name) for row in rows])) for name in _names(rows)])


def _uniform(values: list[Any]) -> list[Any]:
    """Values of one kind: texts where there are different ones."""
    kinds = {
        bool if isinstance(one, bool) else float if isinstance(one, (int, float)) else str
        for one in values
        if one is not None
    }
    return values if len(kinds) < 2 else [None if one is None else str(one) for one in values]
