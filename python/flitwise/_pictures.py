"""Pictures and pages that the command makes."""

from __future__ import annotations

import html
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ._ask import Arguments, Progress
from .documents import ExplainDocument, FigureDocument


class Picture:
    """A picture; a notebook shows it."""

    def __init__(self, svg: str) -> None:
        #: The picture as SVG.
        self.svg = svg

    @classmethod
    def drawn(cls, asked: Arguments, option: str, file: str | os.PathLike[str] | None) -> Picture:
        """What the command draws into a file by this option."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.svg"
            again = asked.copy()
            again.command.append(f"--{option}={path}")
            again.text_of()
            picture = cls(path.read_text(encoding="utf-8"))
        if file is not None:
            picture.save(file)
        return picture

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the SVG into a file."""
        Path(file).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, SVG of {len(self.svg)} characters>"


class Figure(Picture):
    """A figure with all its numbers."""

    def __init__(self, svg: str, csv: str, document: FigureDocument) -> None:
        super().__init__(svg)
        #: All numbers, a row each, as ``flitwise figure`` writes them.
        self.csv = csv
        #: The same with all that is known of them: how they were simulated, what is claimed.
        self.document = document

    @classmethod
    def of(cls, asked: Arguments, progress: Progress) -> Figure:
        """Draws the one figure that was asked for."""
        with tempfile.TemporaryDirectory() as folder:
            again = asked.copy()
            again.command.append(f"--out={folder}")
            again.text_of(progress)
            files = [path for path in Path(folder).iterdir() if path.suffix in (".svg", ".csv", ".json")]
            by_ending = {path.suffix: path.read_text(encoding="utf-8") for path in files}
        document = FigureDocument(json.loads(by_ending[".json"]), again)
        return cls(by_ending[".svg"], by_ending[".csv"], document)

    def __repr__(self) -> str:
        return f"<Figure: {self.document.title}>"


class Explanation:
    """A derivation; a notebook shows it as a page."""

    def __init__(self, asked: Arguments) -> None:
        self._asked = asked
        #: Its steps as data.
        self.document: ExplainDocument = asked.document(ExplainDocument)

    def _as(self, form: str) -> str:
        asked = self._asked.copy()
        asked.command.append(f"--format={form}")
        return asked.text_of()

    @property
    def text(self) -> str:
        """As a terminal shows it."""
        return self._as("terminal")

    @property
    def page(self) -> str:
        """As a page of HTML that needs nothing else."""
        return self._as("html")

    @property
    def latex(self) -> str:
        """As a document for pdflatex."""
        return self._as("latex")

    def to_dict(self) -> dict[str, Any]:
        """Its steps as dictionaries, lists, numbers and texts."""
        return self.document.to_dict()

    def _repr_html_(self) -> str:
        # a frame of its own: styles of the page are not the notebook's
        return f'<iframe style="width:100%;height:40em;border:0" srcdoc="{html.escape(self.page)}"></iframe>'

    def __repr__(self) -> str:
        return self.text
