"""Known departures: a campaign goes on past them, counts them, and tells when one does not show."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from otf import NonconformanceError, run
from otf.adapter import Bench, KnownIssue
from otf.campaign import Campaign, Settings
from otf.errors import ModelError, UsageError
from otf.models.coffee import bench
from otf.spec import Spec, goto
from otf.trace.verdict import Failure
from tests.cli.command import otf

FREE = KnownIssue(lambda failure: failure.kind == "unasked", "it gives coffee away")
DRY = KnownIssue(lambda failure: failure.kind == "missing", "it keeps the money")


def machine(*known_issues: KnownIssue) -> Bench:
    """Return the coffee machine with the fault that it gives coffee away."""
    return replace(bench(fault="free"), known_issues=known_issues)


def test_a_campaign_goes_on_past_a_known_departure(tmp_path: Path) -> None:
    """Paths that show it are not failures; all others are driven."""
    summary = run(machine(FREE, DRY), out=tmp_path, traces=5, steps=20, seed=1)
    assert summary.verdict == "pass"
    assert summary.paths == 5
    assert [(known.says, known.count > 0) for known in summary.known_issues] == [(FREE.says, True), (DRY.says, False)]
    [shown, _] = summary.result.known_issues
    assert (Path(shown.trace).name.endswith(".shrunk.jsonl"), shown.steps) == (True, 3)


def test_what_is_not_known_is_a_failure(tmp_path: Path) -> None:
    """A known issue covers only the failures that it describes."""
    with pytest.raises(NonconformanceError):
        run(machine(DRY), out=tmp_path, traces=5, steps=20, seed=1)


def test_a_departure_is_asked_about_the_failure_as_it_is_told(tmp_path: Path) -> None:
    """It gets the failure with its texts: the input and the observation."""
    asked: list[Failure] = []

    def shows(failure: Failure) -> bool:
        asked.append(failure)
        return True

    run(machine(KnownIssue(shows, "any")), out=tmp_path, traces=1, seed=1)
    assert {(failure.input.split("; ")[-1], failure.seen) for failure in asked} == {("Button()", "Coffee()")}


BENCH = """
from dataclasses import replace
from otf.adapter import KnownIssue
from otf.models import coffee
free = KnownIssue(lambda failure: failure.kind == "unasked", "it gives coffee away")
known = free, KnownIssue(lambda failure: False, "never")
def bench(fault: str = "free"): return replace(coffee.bench(fault=fault), known_issues=known)
"""


def test_what_the_command_line_tells(tmp_path: Path) -> None:
    """How many paths showed which departure, and which did not show; the exit status is that of a pass."""
    (tmp_path / "mine.py").write_text(BENCH)
    call = ("run", tmp_path / "mine.py", "--seed", 1, "--traces", 4, "--no-saved")
    result = otf(*call, "--out", tmp_path / "out")
    assert result.status == 0
    assert "PASS, 1 known issue: no other failure (4 paths" in result.out
    shown = (
        r"known issue \(4 paths, shrunk to 3 steps\): it gives coffee away\n"
        r"  unasked: Button\(\) -> expected no output, seen Coffee\(\), after \d+ steps?, shrunk to 3 .*\n"
        r"  look at it:      otf show (.*)\n  its chart:       otf show \1 --chart\n"
    )
    assert re.search(shown, result.out)
    assert "known issue that did not occur: never" in result.out
    unshrunk = otf(*call, "--out", tmp_path / "unshrunk", "--no-shrink").out
    assert re.search(
        r"known issue \(4 paths\): it gives coffee away\n  unasked: .*\n  shrink it:       otf shrink ", unshrunk
    )
    shown = otf(*call, "--out", tmp_path / "json", "--json").data["departures"]
    assert [(each["says"], each["count"]) for each in shown] == [("it gives coffee away", 4), ("never", 0)]


SHORT = KnownIssue(lambda failure: failure.kind == "missing" and failure.step == 2, "its second input is not answered")
DRIES = KnownIssue(lambda failure: failure.input == "Put(n=0)", "it refuses nothing")


def test_what_only_shorter_runs_show_excuses_nothing(tmp_path: Path) -> None:
    """A failure whose shortest run would show a known issue stays a failure, and its run is one that does not."""
    thirsty = replace(bench(fault="dry"), known_issues=(SHORT,))
    settings = Settings(out=tmp_path, traces=4, steps=20, seed=1)
    summary = anyio.run(Campaign(thirsty, settings).run)
    assert summary.verdict == "fail"
    [group] = summary.failures.values()
    assert group.shrunk is not None
    assert group.shrunk.verdict.failure is not None
    assert group.shrunk.verdict.failure.step == 3
    assert (group.count, group.shrunk.others) == (4, [])


@dataclass(frozen=True)
class Put:
    """An input."""

    n: int


def refusing(*known_issues: KnownIssue) -> Bench:
    """Return a system that accepts no number, and an issue that is about one of them."""
    spec = Spec[int, Put](lambda state, _put: [goto(state)], 0, [Put(n) for n in range(9)])
    return replace(Bench.in_process(spec, lambda: lambda _: ["no"], types=(str,)), known_issues=known_issues)


@pytest.mark.parametrize(("issues", "simplest"), [((), "Put(n=0)"), ((DRIES,), "Put(n=1)")])
def test_simpler_values_excuse_nothing(tmp_path: Path, issues: tuple[KnownIssue, ...], simplest: str) -> None:
    """A failure whose simplest values would show a known issue stays a failure, which ends elsewhere."""
    settings = Settings(out=tmp_path, traces=1, steps=5, seed=1)
    [group] = anyio.run(Campaign(refusing(*issues), settings).run).failures.values()
    assert group.shrunk is not None
    assert group.shrunk.verdict.failure is not None
    assert group.shrunk.verdict.failure.input == simplest


WIDE = """
from otf import Bench, Spec, goto
from otf.adapter import KnownIssue

def bench(right: int = 0):
    def system():
        taken = 0
        def take(inp):
            nonlocal taken
            taken += 1
            return ["a"] if taken <= right or inp == 3 else ["no"] if inp == 2 else []
        return take
    known = (KnownIssue(lambda _failure: True, "all is known"),)
    spec = Spec(lambda state, _inp: [goto(state, "a")], 0, [1, 2, 3])
    return Bench(spec, system=system, types=(str,), known_issues=known)
"""


def test_a_known_issue_that_each_path_shows_at_once_leaves_nothing_tested(tmp_path: Path) -> None:
    """No other failure could decide: that is no pass, also after a campaign continued, and its report says the same."""
    (tmp_path / "wide.py").write_text(WIDE.replace("[1, 2, 3]", "[1, 2]"))
    why = "each path showed a known issue at its first input"
    for more in (("--out", tmp_path / "out", "--traces", 2), ("--into", tmp_path / "out", "--traces", 4)):
        done = otf("run", tmp_path / "wide.py", "--seed", 1, "--no-saved", *more)
        assert (done.status, why in done.out) == (3, True), done.out
    report = otf("report", tmp_path / "out", "--bench", tmp_path / "wide.py", "--junit", tmp_path / "junit.xml").out
    assert "INCONCLUSIVE: nothing was tested" in report
    assert why in report
    assert why in (tmp_path / "junit.xml").read_text(encoding="utf-8")


def test_how_many_kinds_of_failure_a_known_issue_excuses_is_told(tmp_path: Path) -> None:
    """Its function may look at too little: all is excused, which the exit status does not show."""
    (tmp_path / "wide.py").write_text(WIDE)
    call = ("run", tmp_path / "wide.py", "--seed", 1, "--no-saved", "--set", "right=3", "--out", tmp_path / "out")
    done = otf(*call, "--traces", 9, "--steps", 6)
    assert done.status == 0
    assert "2 kinds of failure, shrunk to 4 steps): all is known" in done.out


class Own:
    """What looks like a known issue."""

    says = "it gives coffee away"

    def shows(self, failure: Failure) -> bool:
        """Return that it is any failure."""
        return bool(failure)


@pytest.mark.parametrize("issues", [(Own(),), FREE, (FREE, "free"), (KnownIssue(cast("Any", "free"), "it is"),)])
def test_what_is_no_known_issue_is_refused(issues: tuple[KnownIssue, ...]) -> None:
    """A class of one's own, an issue that is in no tuple, and one without a function: with what to write."""
    with pytest.raises(UsageError, match=r"a tuple is needed, .* write known_issues=\(Known"):
        replace(bench(), known_issues=issues)


def test_a_known_issue_is_asked_about_a_failure() -> None:
    """A function that takes none would be found wrong at the first failure only."""
    with pytest.raises(UsageError, match=r"the known issue 'busy': it takes \(\), not \(failure\)"):
        replace(bench(), known_issues=(KnownIssue(lambda: True, "busy"),))  # type: ignore[arg-type,misc] # pyright: ignore -- on purpose


def test_a_known_issue_that_raises_is_named(tmp_path: Path) -> None:
    """The bench is to blame: with the text of the issue, the failure, and the line."""

    def shows(failure: Failure) -> bool:
        raise KeyError(failure.kind)

    with pytest.raises(ModelError, match=r"(?s)the known issue 'odd' raised on the failure .*KeyError: .*in shows"):
        run(machine(KnownIssue(shows, "odd")), out=tmp_path, traces=5, seed=1)
