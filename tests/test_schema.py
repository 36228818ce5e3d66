"""The schema of what the commands print with --json is right: real documents keep it, and others do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import otf
from tests.schema import violations

ROOT: Any = json.loads((Path(__file__).parents[1] / "docs" / "json.schema.json").read_text(encoding="utf-8"))
FREE = ("coffee", "--set", "fault=free", "--seed", 1, "--traces", 2)


@cache
def folder(within: Path) -> Path:
    """A campaign with a failure."""
    otf("run", *FREE, "--out", within / "out")
    return within / "out"


def trace(within: Path) -> Path:
    """Its shrunk trace."""
    return next(folder(within).glob("*.shrunk.jsonl"))


@pytest.fixture(scope="module")
def within(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all documents."""
    return tmp_path_factory.mktemp("documents")


Call = Callable[[Path], tuple[object, ...]]
DOCUMENTS: list[tuple[str, Call]] = [
    ("run", lambda within: ("run", *FREE, "--out", within / "a")),
    ("run", lambda within: ("run", "coffee", "--traces", 1, "--out", within / "b")),
    ("run", lambda within: ("run", *FREE, "--no-shrink", "--out", within / "c")),
    ("run", lambda within: ("run", "coffee", "--until", "pairs", "--out", within / "i")),
    ("run", lambda within: ("run", "coffee", "--spend", "1h", "--traces", 1, "--out", within / "j")),
    ("calibrate", lambda within: ("run", "coffee", "--calibrate", "--steps", 2, "--out", within / "d")),
    ("replay", lambda within: ("replay", trace(within), *folder(within).glob("path-????.jsonl"))),
    ("rerun", lambda within: ("rerun", trace(within), "--out", within / "e")),
    ("shrink", lambda within: ("shrink", trace(within))),
    ("show", lambda within: ("show", trace(within))),
    ("shows", lambda within: ("show", trace(within), folder(within))),
    ("report", lambda within: ("report", folder(within))),
    ("compare", lambda within: ("compare", folder(within), folder(within))),
    ("compare", lambda within: ("compare", trace(within), folder(within) / "path-0001.jsonl")),
    ("mutants", lambda within: ("mutants", "coffee", "--out", within / "f")),
    ("model-mutants", lambda _within: ("mutants", "coffee", "--model", "--most", 4)),
    ("explore", lambda _within: ("explore", "coffee")),
    ("check", lambda _within: ("check", "coffee")),
    ("suite", lambda within: ("suite", "coffee", "--out", within / "h")),
    ("learn", lambda within: ("learn", "coffee", "--out", within / "k")),
    ("error", lambda within: ("learn", "coffee", "--time", 0, "--out", within / "l")),
    ("compare-models", lambda _within: ("compare", "coffee", "tickets")),
    ("list", lambda _within: ("list",)),
    ("error", lambda _within: ("run", "no-such-bench")),
    ("replay", lambda _within: ("replay", "no-such-trace")),
    ("error", lambda _within: ("show", "no-such-trace")),
    ("error", lambda _within: ("run",)),
]


@pytest.mark.parametrize(("name", "call"), DOCUMENTS, ids=[f"{name}-{at}" for at, (name, _) in enumerate(DOCUMENTS)])
def test_what_is_printed_keeps_the_schema(name: str, call: Call, within: Path) -> None:
    """Every key that is there is described, and every key that is promised is there."""
    document = otf(*call(within), "--json").data
    assert list(violations(document, ROOT["$defs"][name], ROOT)) == []


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"verdict": "good"}, "$.verdict is 'good', not one of ['pass', 'fail', 'inconclusive', 'error']"),
        ({"paths": "2"}, "$.paths is '2', not of the type integer"),
        ({"more": 1}, "$.more is not known"),
        ({"failures": [{"signature": "x"}]}, "$.failures[0].count is missing"),
    ],
)
def test_what_does_not_keep_it_is_found(change: dict[str, Any], wrong: str, within: Path) -> None:
    """Else the tests above would say nothing."""
    document = otf("run", "coffee", "--traces", 1, "--out", within / "g", "--json").data | change
    assert wrong in list(violations(document, ROOT["$defs"]["run"], ROOT))
    assert list(violations({}, ROOT["$defs"]["run"], ROOT))


def test_every_command_that_prints_a_document_has_a_definition() -> None:
    """A command with --json that is added has to be added to the schema, too."""
    from otf.cli.app import COMMANDS

    with_json = {name for name in COMMANDS if "--json" in otf(name, "--help").out}
    assert with_json - ROOT["$defs"].keys() == set()
