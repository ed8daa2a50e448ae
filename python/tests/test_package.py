"""The package itself: types, stubs, and what is made from the command's schemas."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import flitwise as fw

HERE = Path(__file__).resolve().parents[1]


def test_the_classes_of_answers_are_those_of_the_schemas(program):
    made = subprocess.run(
        [sys.executable, HERE / "tools/documents.py"], capture_output=True, text=True, check=True
    ).stdout
    assert made == (HERE / "flitwise/documents.py").read_text(), "python tools/documents.py --write"


def test_types_are_sound():
    pytest.importorskip("mypy")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=pyproject.toml"], cwd=HERE, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout


def test_the_stub_of_the_engine_is_its_own():
    pytest.importorskip("mypy")
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy.stubtest",
            "flitwise",
            "--ignore-disjoint-bases",
            f"--mypy-config-file={HERE / 'pyproject.toml'}",
        ],
        cwd=HERE / "tests",
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_examples_do_what_they_say():
    # of texts and of the guide
    for found in (
        doctest.testmod(fw, extraglobs={"fw": fw}),
        doctest.testfile(str(HERE / "README.md"), module_relative=False, encoding="utf-8"),
    ):
        assert found.attempted > 5
        assert found.failed == 0


def test_all_that_is_public_is_described():
    for name in fw.__all__:
        found = getattr(fw, name)
        assert name == "__version__" or found.__doc__, name
