"""What otf writes for tools that manage requirements is read by these tools, if they are installed.

They are not among what the tests need, since both are large: `pip install sphinx-needs strictdoc`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from otf.report.requirements import needs, strictdoc
from otf.spec import Requirement
from otf.trace.requirements import STATUSES, RequirementResult

TEXTS = (
    "A press lights a dark lamp.",
    "It says <<< and >>>, `one` and *another*, | and \\ and {braces}.",
    "[REQUIREMENT]\nUID: X\n\nSTATEMENT: of another",
    '"quotes", ümlauts, ½ and a tab\there',
    "x" * 3_000,
)
IDS = ("R1", "RFC9112-6.3", "RFC9112_6_3", "rfc9112 6 3", "MQTT-3.3.2-2")
RESULTS = tuple(
    RequirementResult(Requirement(name, "MUST NOT", text), status, "out/path-0001.jsonl")
    for name, text, status in zip(IDS, TEXTS, STATUSES, strict=True)
)
CONF = """\
project = "lamps"
extensions = ["sphinx_needs"]
needs_id_required = True
"""
INDEX = """\
Lamps
=====

.. needimport:: needs.json

.. needtable::
   :columns: id, title, status
"""
SPHINX = shutil.which("sphinx-build")
STRICTDOC = shutil.which("strictdoc")


def test_each_requirement_has_an_id_of_its_own() -> None:
    """Ids that are alike but for signs stay different, and none is too short for sphinx-needs."""
    found = json.loads(needs(RESULTS, "lamps"))["versions"]["1"]["needs"]
    assert list(found) == ["REQ_R1", "RFC9112_6_3", "RFC9112_6_3_2", "RFC9112_6_3_3", "MQTT_3_3_2_2"]
    assert [each["title"] for each in found.values()] == [*IDS]
    assert all(each["id"] == name for name, each in found.items())


def _run(*argv: str, folder: Path) -> str:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(SPHINX is None, reason="sphinx-needs is not installed")
def test_sphinx_needs_imports_the_results(tmp_path: Path) -> None:
    """A project that imports the file builds without a warning, and its own needs.json has all of them again."""
    (tmp_path / "conf.py").write_text(CONF, encoding="utf-8")
    (tmp_path / "index.rst").write_text(INDEX, encoding="utf-8")
    (tmp_path / "needs.json").write_text(needs(RESULTS, "lamps"), encoding="utf-8")
    _run(str(SPHINX), "-W", "--keep-going", "-b", "needs", ".", "built", folder=tmp_path)
    versions = json.loads((tmp_path / "built" / "needs.json").read_text(encoding="utf-8"))["versions"]
    (found,) = (each["needs"] for each in versions.values())
    assert {each["title"]: each["status"] for each in found.values()} == {
        each.requirement.id: each.status for each in RESULTS
    }
    assert {each["content"] for each in found.values()} == {" ".join(text.split()) for text in TEXTS}


@pytest.mark.slow
@pytest.mark.skipif(STRICTDOC is None, reason="StrictDoc is not installed")
def test_strictdoc_reads_the_results(tmp_path: Path) -> None:
    """It exports the document as JSON, with all of them."""
    (tmp_path / "lamps.sdoc").write_text(strictdoc(RESULTS, "lamps"), encoding="utf-8")
    _run(str(STRICTDOC), "export", "--formats", "json", "--output-dir", "built", ".", folder=tmp_path)
    (file,) = (tmp_path / "built").rglob("*.json")
    nodes = json.loads(file.read_text(encoding="utf-8"))["DOCUMENTS"][0]["NODES"]
    assert {each["UID"]: each["STATUS"] for each in nodes} == {each.requirement.id: each.status for each in RESULTS}
