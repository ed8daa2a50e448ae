"""Writes flitwise/documents.py, the classes of all answers, from the JSON schemas of the command.

    python tools/documents.py           prints it
    python tools/documents.py --write   writes it

The program is asked for them: ``flitwise``, or what FLITWISE names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

#: Schemas, as ``flitwise schema`` takes them.
SCHEMAS = (
    "solve distribution loads sweep sensitivity simulate compare against plan verify accuracy anchored-accuracy figure "
    "explain station preset campaign-plan campaign-status study"
).split()
#: Where a document's rows are, unless they are its classes, and fields of the lists above that each row repeats.
ROWS: dict[str, tuple[list[str], list[str]]] = {
    "SweepDocument": (["points", "classes"], ["model"]),
    "CompareDocument": (["points", "rows"], []),
    "AgainstDocument": (["numbers"], []),
    "SensitivityDocument": (["outputs", "sensitivities"], ["model", "class", "quantity", "value", "unit"]),
    "MaxLoadDocument": (["requirements"], ["model"]),
    "ChooseDocument": (["tried"], ["model"]),
    "RegionDocument": (["frontier"], ["model"]),
    "VerifyDocument": (["claims"], []),
    "AccuracyDocument": (["summary"], []),
    "AnchoredAccuracyDocument": (["summary"], []),
    "FigureDocument": (["claims"], []),
    "ExplainDocument": (["sections"], []),
    "StationDocument": (["points"], []),
    "CampaignPlanDocument": (["blocks"], []),
    "CampaignStatusDocument": (["details"], []),
    "StudyDocument": (["points", "simulation", "classes"], []),
}
HEAD = '''"""The answers of the command as classes. Made by tools/documents.py from the command's JSON schemas."""

from __future__ import annotations

from typing import Any, ClassVar

from ._records import Document, Record
'''
#: Types of JSON and of Python.
TYPES = {"number": "float", "integer": "int", "string": "str", "boolean": "bool", "null": "None"}
KEYWORDS = ("class", "from", "in", "is", "global")


def attribute(key: str) -> str:
    name = re.sub(r"\W", "_", key)
    return name + "_" if name in KEYWORDS else name


def plain(text: str) -> str:
    """A description without the marks of its own language."""
    text = re.sub(r"\[`([^`\]]+)`\](\([^)]*\))?", r"`\1`", text).replace("\\[", "[").replace("\\]", "]")
    return re.sub(r"\s+", " ", text).strip().replace("\\", "\\\\").replace('"""', "'''")


class Schema:
    """The definitions of one schema, under names that no other schema has for something else."""

    def __init__(self, root: dict[str, Any], taken: dict[str, str]) -> None:
        self.definitions: dict[str, Any] = root.get("$defs", {})
        title = root["title"].removesuffix("Document")
        self.names: dict[str, str] = {}
        #: Fields of the last class that are records, with their classes.
        self.nested: list[str] = []
        for name, definition in self.definitions.items():
            text = json.dumps(definition, sort_keys=True)
            same = [own for own, other in taken.items() if other == text]
            own = same[0] if same else f"{title}{name}" if name in taken else name
            taken[own] = text
            self.names[name] = own

    def target(self, reference: str) -> tuple[str, dict[str, Any]]:
        name = reference.split("/")[-1]
        return name, self.definitions[name]

    def type_of(self, value: dict[str, Any] | bool) -> tuple[str, str | None]:
        """The type of a value, and the class of the records in it, if there is one."""
        if not isinstance(value, dict):
            return "Any", None
        if "$ref" in value:
            name, target = self.target(value["$ref"])
            if "properties" in target:
                return self.names[name], self.names[name]
            return self.type_of(target)
        if "anyOf" in value or "oneOf" in value:
            kinds = [self.type_of(one) for one in value.get("anyOf") or value["oneOf"]]
            types = list(dict.fromkeys(kind for kind, _ in kinds))
            types = sorted(types, key=lambda kind: kind == "None")
            records = [record for _, record in kinds if record]
            return ("Any" if "Any" in types else " | ".join(types)), (records[0] if len(set(records)) == 1 else None)
        if "const" in value or "enum" in value:
            return "str", None
        said = value.get("type")
        names: list[str] = []
        record: str | None = None
        for one in said if isinstance(said, list) else [said]:
            if one == "array":
                within, record = self.type_of(value.get("items", True))
                names.append(f"list[{within}]")
            elif one == "object":
                names.append("Record")
            else:
                names.append(TYPES.get(str(one), "Any"))
        return " | ".join(names), record

    def text_of(self, name: str, definition: dict[str, Any], base: str) -> str:
        """The class of a definition; leaves in `nested` which of its fields are records."""
        lines = [f"class {name}({base}):", *docstring(definition.get("description", name))]
        nested: list[str] = []
        lines += ["", "    __slots__ = ()"]
        if base == "Document" and name in ROWS:
            rows, repeated = ROWS[name]
            lines.append(f"    _rows: ClassVar[tuple[str, ...]] = {tuple(rows)!r}")
            lines.append(f"    _repeated: ClassVar[tuple[str, ...]] = {tuple(repeated)!r}")
        required = definition.get("required", [])
        for key, value in definition["properties"].items():
            kind, record = self.type_of(value)
            optional = "" if key in required or kind in ("Any", "None") or kind.endswith("| None") else " | None"
            if record:
                nested.append(f'    "{key}": {record},')
            lines.append(f"    {attribute(key)}: {kind}{optional}")
            lines += docstring(value.get("description", "") if isinstance(value, dict) else "")
        self.nested = nested
        return "\n".join(lines)


def docstring(text: str) -> list[str]:
    text = plain(text)
    if not text:
        return []
    lines = textwrap.wrap(text, 112) or [""]
    if len(lines) == 1 and len(lines[0]) < 106:
        return [f'    """{lines[0]}"""']
    return [f'    """{lines[0]}', *(f"    {line}" for line in lines[1:]), '    """']


def generated() -> str:
    program = os.environ.get("FLITWISE", "flitwise")
    taken: dict[str, str] = {}
    classes: dict[str, str] = {}
    nested: dict[str, list[str]] = {}
    schemas: list[str] = []
    for word in SCHEMAS:
        printed = subprocess.run([program, "schema", word], check=True, capture_output=True, text=True)
        root = json.loads(printed.stdout)
        schema = Schema(root, taken)
        documents = {root["title"]: root} if "properties" in root else {}
        for branch in root.get("anyOf", []):
            name, target = schema.target(branch["$ref"])
            documents[name] = {**target, "description": target.get("description") or branch["description"]}
        for name, definition in schema.definitions.items():
            own = schema.names[name]
            if "properties" in definition and own not in classes and name not in documents:
                classes[own] = schema.text_of(own, definition, "Record")
                nested[own] = schema.nested
        for name, definition in documents.items():
            classes[name] = schema.text_of(name, definition, "Document")
            nested[name] = schema.nested
            said = plain(definition["properties"]["schema"].get("description", ""))
            found = re.search(r"flitwise\.[a-z-]+", said)
            if found and word != "plan":
                schemas.append(f'    "{found[0]}": {name},')
    parts = [HEAD, *classes.values()]
    for name, entries in nested.items():
        if entries:
            parts.append("\n".join([f"{name}._nested = {{", *entries, "}"]))
    parts.append(
        "\n".join(
            ["#: Classes of documents by their schemas.", "BY_SCHEMA: dict[str, type[Document]] = {", *schemas, "}"]
        )
    )
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


if __name__ == "__main__":
    made = generated()
    if "--write" in sys.argv[1:]:
        (ROOT / "flitwise" / "documents.py").write_text(made, encoding="utf-8")
    else:
        print(made, end="")
