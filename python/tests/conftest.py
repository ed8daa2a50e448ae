"""The command beside which the package is held: the program of the same sources."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def program() -> str:
    """The program; FLITWISE names it, else the one of a debug build."""
    named = os.environ.get("FLITWISE") or shutil.which("flitwise") or str(ROOT / "target/debug/flitwise")
    assert Path(named).exists(), f"{named} is not there: cargo build, or FLITWISE=.."
    return named


@pytest.fixture(scope="session")
def printed(program):
    """What the program prints as a document."""

    def run(*arguments: str, text: str | None = None) -> dict:
        done = subprocess.run(
            [program, *arguments, "--format=json"], input=text, capture_output=True, text=True, timeout=300
        )
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(autouse=True)
def store(tmp_path_factory, monkeypatch):
    """A store of the tests' own."""
    monkeypatch.setenv("FLITWISE_STORE", str(tmp_path_factory.getbasetemp() / "store"))
