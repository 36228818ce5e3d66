"""A test in one line: `run(bench)` returns, or raises what a person reads."""

from __future__ import annotations

import dataclasses
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack, get_type_hints

import pytest

import otf
from otf.adapter import Bench
from otf.campaign import InconclusiveError, NonconformanceError, Settings, SettingsKeywords
from otf.campaign.lanes import make_room
from otf.core import Limits
from otf.errors import ContactError, ModelError, UsageError
from otf.spec import Spec, Transition
from otf.strategy import Coverage, StrategyKind
from tests.campaign.machine import FAULTS, TEA, THIEF, Machine, Started, judged, made_by
from tests.runner.playing import on_function


def _fast(*faults: str, **more: Any) -> Bench:  # noqa: ANN401 -- the fields of a bench
    """Return a bench for real time: the machine answers at once."""
    return made_by(lambda: Machine(faults), quiescence=0.001, latency=0, busy=0, **more)


def test_a_right_machine(tmp_path: Path) -> None:
    """A campaign that passes returns its summary."""
    summary = otf.run(_fast(), out=tmp_path, traces=3, steps=20, seed=1)
    assert (summary.verdict, summary.paths, summary.steps) == ("pass", 3, 60)


def test_a_wrong_machine(tmp_path: Path) -> None:
    """The error has the input, the possible state, the outputs that it allows, the actual output, and the trace."""
    with pytest.raises(NonconformanceError) as caught:
        otf.run(_fast(TEA), out=tmp_path, seed=1)
    text = str(caught.value)
    assert "an output came that the model does not allow there" in text
    assert "step 4, input:  Button()" in text
    assert "possible state: 3" in text
    assert "allows:        Coffee()\n                   -> 2" in text
    assert "seen:            Tea()" in text
    [group] = caught.value.summary.failures.values()
    assert group.shrunk is not None
    assert f"trace: {group.shrunk.trace}" in text
    assert judged(group.shrunk.trace).recorded == "fail"


def test_all_failures_are_in_the_message(tmp_path: Path) -> None:
    """Each kind of failure has its paragraph; without shrinking it shows the first trace."""
    with pytest.raises(NonconformanceError) as caught:
        otf.run(_fast(*FAULTS), out=tmp_path, seed=1, traces=30, shrink=False)
    told = str(caught.value).split("\n\nFAIL")
    assert len(told) == len(caught.value.summary.failures) == 3
    assert {str(group.first.trace) in str(caught.value) for group in caught.value.summary.failures.values()} == {True}


def test_it_is_an_assertion(tmp_path: Path) -> None:
    """A test framework counts it as a failed test, not as an error."""
    with pytest.raises(AssertionError, match="an output that the model requires did not come"):
        otf.run(_fast(THIEF), out=tmp_path, seed=1)


def test_no_contact(tmp_path: Path) -> None:
    """Nothing could be decided: that is no pass."""
    with pytest.raises(ContactError, match="start 2 failed"):
        otf.run(made_by(Started(broken=99)), out=tmp_path)


def test_what_was_seen_once(tmp_path: Path) -> None:
    """A campaign that is inconclusive for another reason is no pass either, and the error has the reason."""

    def many(state: int, _inp: str) -> Iterator[Transition[int]]:
        yield from (Transition(number) for number in ([state] if state else range(1, 30)))

    fast: dict[str, float] = {"quiescence": 0.001, "latency": 0, "busy": 0}
    unsure = on_function(
        lambda: lambda _frame: None, spec=Spec(many, 0, ["p.go"]), limits=Limits(hypotheses=10), **fast
    )
    with pytest.raises(InconclusiveError, match="more than 50 explanations") as raised:
        otf.run(unsure, out=tmp_path, traces=2)
    assert str(raised.value).count("explanations") == 1
    assert (raised.value.summary.paths, raised.value.exit_status) == (2, 3)


def test_a_broken_model(tmp_path: Path) -> None:
    """An error of the model comes out as it is."""

    def step(_state: int, _inp: str) -> int:
        return 7

    broken: Any = Spec(step, 0, ["p.go"])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"step\(0, 'p\.go'\).*7"):
        otf.run(on_function(lambda: lambda _frame: None, spec=broken), out=tmp_path)


def test_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without `out` the traces of a failure go to a fresh temporary folder; a campaign that passes leaves nothing."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    otf.run(_fast(), traces=1, steps=2)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NonconformanceError):
        otf.run(_fast(TEA), traces=1, seed=1, shrink=False)
    [folder] = tmp_path.glob("otf-*")
    assert "path-0001.jsonl" in {path.name for path in folder.iterdir()}


def test_an_unknown_strategy(tmp_path: Path) -> None:
    """What is asked for must exist."""
    with pytest.raises(UsageError, match="did you mean random"):
        otf.run(_fast(), out=tmp_path, strategy="randm")


def test_the_keywords_are_the_fields() -> None:
    """The keyword arguments that type checkers allow are the fields of the settings, with the same types."""
    # what a model file does not need is not imported with the settings
    more = {"Bench": Bench, "Coverage": Coverage, "StrategyKind": StrategyKind}
    fields = get_type_hints(Settings, localns=more)
    assert get_type_hints(SettingsKeywords, localns=more) == fields
    assert SettingsKeywords.__optional_keys__ == fields.keys()
    assert get_type_hints(otf.run, localns=more)["settings"] == Unpack[SettingsKeywords]


def test_the_table_has_every_field() -> None:
    """The docstring of the settings has a row for each field, in their order."""
    rows = re.findall(r"^\s*\| `(\w+)` \|", str(Settings.__doc__), re.MULTILINE)
    assert rows == [each.name for each in dataclasses.fields(Settings)]


@pytest.mark.slow
def test_a_misspelt_setting(tmp_path: Path) -> None:
    """The type checker refuses a keyword that is not a setting, and one of another type."""
    script = tmp_path / "misspelt.py"
    script.write_text(
        "from otf import Bench, run\ndef f(b: Bench) -> None:\n    run(b, stesp=2)\n    run(b, steps='2')\n"
    )
    found = subprocess.run([sys.executable, "-m", "mypy", str(script)], capture_output=True, text=True, check=False)
    assert 'misspelt.py:3: error: Unexpected keyword argument "stesp" for "run"; did you mean "steps"?' in found.stdout
    assert 'misspelt.py:4: error: Argument "steps" to "run" has incompatible type "str"' in found.stdout


@pytest.mark.parametrize(
    ("soft", "hard", "limit", "note"),
    [
        (256, 1 << 20, 10_064, ""),
        (256, resource.RLIM_INFINITY, 10_064, ""),
        (20_000, 20_000, 20_000, ""),
        (256, 512, 512, "1000 copies may need 10064 open files, and this process may have 512: see `ulimit -Hn`"),
    ],
)
def test_room_for_a_thousand_copies(
    soft: int, hard: int, limit: int, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of open files is raised as far as it may be; where that is not enough, a note says so."""
    limits = [(soft, hard)]
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: limits[-1])  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setattr(resource, "setrlimit", lambda _kind, found: limits.append(found))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert (make_room(1000), limits[-1]) == (note, (limit, hard))


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ({"time": "5s"}, "time='5s': a positive number of seconds is needed"),
        ({"traces": "4"}, "traces='4': at least 1 is needed"),
        ({"seed": "3"}, "seed='3': a whole number is needed"),
        ({"mode": "fast"}, "mode='fast': one of strict, eager is needed"),
        ({"keep": "failure"}, "keep='failure': one of all, failures is needed; did you mean failures?"),
        ({"traces": 0, "steps": 0}, "2 mistakes\n  traces=0: at least 1 is needed\n  steps=0: at least 1 is needed"),
        ({"aftermath": None}, "aftermath=None: a number of seconds from 0 to 60 is needed"),
    ],
)
def test_a_setting_of_a_wrong_type_is_told(setting: dict[str, Any], why: str) -> None:
    """A program without types passes what the command line would have read: a text for a number."""
    with pytest.raises(UsageError) as raised:
        otf.run(_fast(), **setting)
    assert str(raised.value) == why


def test_a_folder_may_be_a_text(tmp_path: Path) -> None:
    """Traces go there; None is a new folder."""
    untyped: Any = {"out": str(tmp_path / "runs"), "traces": 1, "steps": 2}
    assert otf.run(_fast(), **untyped).steps == 2
    assert (tmp_path / "runs" / "path-0001.jsonl").exists()
    assert otf.run(_fast(), **untyped | {"out": None}).steps == 2
