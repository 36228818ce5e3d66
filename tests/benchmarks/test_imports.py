"""Who installs the extra `benchmarks` can run each of them."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIRED: list[str] = PROJECT["optional-dependencies"]["benchmarks"]
FILES = sorted((ROOT / "benchmarks").glob("*.py"))
HERE = {"benchmarks", "otf", "tests"}
IMPORTED = {"python-can": "can", "can-isotp": "isotp"}
"""Packages that are imported under another name."""
BEHIND = {"otf.cli.tools.explore": "pictures", "use_uvloop": "uvloop"}
"""What makes otf import something by name while it runs, and the extra of otf that has it."""


def imported(file: Path) -> Iterator[str]:
    """Find the modules that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def reached() -> dict[str, Path]:
    """Name each module that the benchmarks import, also through helpers of the tests, with a file that does so."""
    found = dict[str, Path]()
    files = [*FILES]
    for file in files:
        new = {name: file for name in imported(file) if name not in found}
        found |= new
        helpers = [ROOT / f"{name.replace('.', '/')}.py" for name in new if name.startswith("tests.")]
        files += [file for file in helpers if file.exists()]  # a folder has nothing to import
    return found


def test_each_import_is_required() -> None:
    """What is neither Python's nor ours is a dependency of otf or of the extra, under the name that is imported."""
    (ours,) = [line for line in REQUIRED if line.startswith("otf[")]
    extras = [
        line for extra in re.findall(r"\w+", ours.partition("[")[2]) for line in PROJECT["optional-dependencies"][extra]
    ]
    required = {re.split(r"[^\w-]", line)[0] for line in [*PROJECT["dependencies"], *REQUIRED, *extras]}
    required |= {IMPORTED.get(name, "") for name in required}
    foreign = {name.partition(".")[0] for name in reached()} - sys.stdlib_module_names - HERE
    assert foreign >= {"aalpy", "anyio", "hypothesis", "leancheck"}
    assert foreign - required == set()


@pytest.mark.parametrize(("word", "extra"), BEHIND.items())
def test_what_otf_needs_for_them_is_required(word: str, extra: str) -> None:
    """Where a benchmark uses a part of otf that has an extra of its own, the extra comes along."""
    assert any(word in file.read_text(encoding="utf-8") for file in FILES)
    (otf,) = [line for line in REQUIRED if line.startswith("otf[")]
    assert extra in re.findall(r"\w+", otf.partition("[")[2])
