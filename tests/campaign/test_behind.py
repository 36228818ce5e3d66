"""A path goes on past a failure that is known, by a guess of the state; what fails behind it needs a run without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Bench, KnownIssue
from otf.adapters.inprocess import inprocess
from otf.campaign import Campaign, Settings, Summary, rerun
from otf.campaign.believed import judged
from otf.campaign.doubts import without_guess
from otf.campaign.pace import Pace
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import header
from otf.codec import lines
from otf.core.walk import Act
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import GUESSED, Guess, Sent
from tests.cli.command import otf

TABLE = {
    ("s0", "a"): ("x", "s1"),
    ("s0", "b"): ("y", "s2"),
    ("s1", "a"): ("x", "s0"),
    ("s1", "b"): ("y", "s0"),
    ("s2", "a"): ("w", "s1"),
    ("s2", "c"): ("z", "s0"),
}
ROUND = {**TABLE, ("s1", "d"): ("v", "s3"), ("s3", "e"): ("u", "s2")}
"""The same, with another way to s2."""
B, C = ("s0", "b"), ("s2", "c")


def spec(table: dict[tuple[str, str], tuple[str, str]]) -> Spec[str, str]:
    """Return a table as a spec."""

    def step(state: str, inp: str) -> Iterator[Transition[str]]:
        if (state, inp) in table:
            output, then = table[state, inp]
            yield goto(then, output)

    return Spec(step, "s0", sorted({inp for _, inp in table}))


def system(
    table: dict[tuple[str, str], tuple[str, str]], *wrong: tuple[str, str], to: str | None = None
) -> Callable[[], Act]:
    """Return a system that answers wrongly at these entries, and goes `to` another state there."""

    def make() -> Act:
        state = "s0"

        def act(inp: str) -> list[str]:
            nonlocal state
            at = state, inp
            if at not in table:
                return []
            output, state = table[at]
            if at not in wrong:
                return [output]
            state = to or state
            return [f"wrong {inp}"]

        return act

    return make


def bench(*wrong: tuple[str, str], table: dict[tuple[str, str], tuple[str, str]] = TABLE, **more: Any) -> Bench:  # noqa: ANN401 -- of a bench
    """Return the bench of such a system."""
    to = more.pop("to", None)
    return Bench.in_process(spec(table), system(table, *wrong, to=to), types=(str,), **more)


def campaign(of: Bench, out: Path, **more: Any) -> Summary:  # noqa: ANN401 -- of the settings
    """Return the result of thirty paths."""
    given: dict[str, Any] = {"traces": 30, "steps": 20, "seed": 1, **more}
    settings = Settings(out=out, **given)
    return anyio.run(Campaign(of, settings).run)


def kinds(summary: Summary) -> list[str]:
    """Return the inputs of the kinds of failure."""
    failures = (group.first.verdict.failure for group in summary.failures.values())
    return sorted(failure.input for failure in failures if failure is not None)


def guessed(summary: Summary) -> list[str]:
    """Return the inputs of the failures that were seen only behind others."""
    failures = (each.first.verdict.failure for each in summary.unconfirmed())
    return sorted(failure.input for failure in failures if failure is not None)


def test_what_can_be_reached_only_behind_a_failure_is_told_as_depending_on_the_guess(tmp_path: Path) -> None:
    """The table of six transitions: b is always answered wrongly, and c, which is wrong too, comes only behind b."""
    summary = campaign(bench(B, C), tmp_path)
    assert (summary.verdict, kinds(summary), guessed(summary)) == ("fail", ["'b'"], ["'c'"])
    told = [*summary.result.basis()]
    assert any("seen only behind another failure" in line and "'c'" in line for line in told)


def test_what_another_way_reaches_is_a_kind_of_its_own(tmp_path: Path) -> None:
    """A run without the guess confirms it: it is shrunk as any failure, and nothing depends on a guess."""
    of = bench(B, C, table=ROUND)
    summary = campaign(of, tmp_path, traces=100)
    assert (kinds(summary), guessed(summary)) == (["'b'", "'c'"], [])
    shrunk = [group.shrunk for group in summary.failures.values()]
    assert sorted(each.steps for each in shrunk if each is not None) == [1, 4]
    assert not any(isinstance(event, Guess) for each in shrunk if each is not None for event in each.events)


def always(nodes: object, inp: object, failure: object) -> bool:
    """Go on past each failure."""
    del nodes, inp, failure
    return True


def _path(of: Bench, folder: Path, *inputs: str) -> Any:  # noqa: ANN401 -- a path and its oracle
    oracle, head = of.oracle(), header(of, Settings(out=folder, mode="strict"), 1, strategy="script")
    run = PathRun(of, oracle, head, folder / "path-0001.jsonl", goes_past=always)
    return anyio.run(run.run, Script(inputs), len(inputs), Pace("strict", 1, of.timing).pacing()), oracle, head


def _input(path: PathResult) -> str:
    assert path.verdict.failure is not None
    return path.verdict.failure.input


def test_a_run_without_the_guess_comes_by_another_way(tmp_path: Path) -> None:
    """The shortest way around the transition that fails, and then the inputs after the guess."""
    of = bench(B, C, table=ROUND)
    path, oracle, head = _path(of, tmp_path, "b", "c", "a")
    (behind,) = path.verdict.behind
    assert (_input(path), behind.input, behind.step) == ("'b'", "'c'", 2)
    found = anyio.run(without_guess, of, oracle, head, path.upto(behind), float("inf"))
    assert [event.input for event in found.events if isinstance(event, Sent)] == ["a", "d", "e", "c"]
    assert (_input(found), found.guesses) == ("'c'", False)


def test_a_wrong_guess_is_no_alarm(tmp_path: Path) -> None:
    """The system goes elsewhere than the model says: what follows depends on the guess, and counts apart."""
    summary = campaign(bench(B, to="s1"), tmp_path, traces=100)
    assert kinds(summary) == ["'b'"]
    assert all(each.first.guesses for each in summary.unconfirmed())
    assert len(summary.result.failures) == 1


@dataclass(frozen=True)
class Read:
    """Asks for the value of a register."""

    at: int


@dataclass(frozen=True)
class Value:
    """The value of a register."""

    value: int


def test_two_registers_that_are_wrong_independently_are_two_kinds(tmp_path: Path) -> None:
    """Where reading a register changes no state, nothing is behind anything."""

    def step(state: int, inp: Read) -> Iterator[Transition[int]]:
        del inp
        yield goto(state, Value(0))

    def make() -> Act:
        return lambda inp: [Value({3: 99, 7: -1}.get(inp.at, 0))]

    of = Bench.in_process(Spec(step, 0, [*map(Read, range(8))]), make, types=(Read, Value))
    summary = campaign(of, tmp_path)
    assert (kinds(summary), guessed(summary)) == (["Read(at=3)", "Read(at=7)"], [])


def test_paths_go_on_past_a_known_issue(tmp_path: Path) -> None:
    """What is behind it fails the campaign where another way leads to it, and is told where none does."""
    issue = KnownIssue(lambda failure: failure.input == "'b'", "b is answered wrongly")
    alone = campaign(bench(B, C, known_issues=(issue,)), tmp_path / "alone")
    assert (alone.verdict, guessed(alone), alone.known_issues[0].count > 0) == ("pass", ["'c'"], True)
    reached = campaign(bench(B, C, table=ROUND, known_issues=(issue,)), tmp_path / "reached")
    assert (reached.verdict, kinds(reached), guessed(reached)) == ("fail", ["'c'"], [])


def test_a_known_issue_confirms_nothing_that_was_seen_behind_it(tmp_path: Path) -> None:
    """The second wrong answer to an input is another one: a run of the first, a known one, is not a run of it."""

    def make() -> Act:
        said = iter(["known", *["worse"] * 99])
        return lambda inp: [next(said) if inp == "b" else "x"]

    issue = KnownIssue(lambda failure: failure.seen == "'known'", "the first b is answered wrongly")
    simple = spec({("s0", "a"): ("x", "s0"), ("s0", "b"): ("y", "s0")})
    summary = campaign(Bench.in_process(simple, make, types=(str,), known_issues=(issue,)), tmp_path)
    assert (summary.verdict, kinds(summary), guessed(summary)) == ("pass", [], ["'b'"])


def test_later_paths_steer_away_from_what_fails(tmp_path: Path) -> None:
    """Of 200 random paths of ten steps, a fifth at most meet a failure that a third would meet otherwise."""
    table = {("s0", inp): (inp, "s0") for inp in [*map(str, range(24)), "b"]}
    summary = campaign(bench(B, table=table), tmp_path, traces=200, steps=10, strategy="random", shrink=False)
    assert summary.result.failed < 0.2 * 200


def test_the_same_seed_gives_the_same_paths(tmp_path: Path) -> None:
    """What failed on which path is learnt as everything else, with several lanes too."""
    first = campaign(bench(B, C), tmp_path / "1", jobs=2)
    again = campaign(bench(B, C), tmp_path / "2", jobs=2)
    assert (first.steps, first.result.failed, guessed(first)) == (again.steps, again.result.failed, guessed(again))


def test_a_trace_with_a_guess_is_judged_and_driven_as_it_was(tmp_path: Path) -> None:
    """Replay finds both failures, and a rerun fails at the first of them."""
    of = bench(B, C)
    path, _, _ = _path(of, tmp_path, "b", "c", "a")
    replayed = judged(path.trace, 1, of)
    assert replayed.verdict == path.verdict
    assert [failure.event for failure in replayed.verdict.behind] == [6]
    again = anyio.run(rerun, of, replayed.events, Settings(out=tmp_path / "again"))
    assert (_input(again), again.verdict.behind) == ("'b'", ())


def test_a_mended_model_takes_no_guess(tmp_path: Path) -> None:
    """Where nothing fails any more, the state is known, and the guess in the trace says nothing."""
    path, _, _ = _path(bench(B), tmp_path, "b", "a")
    mended = spec({**TABLE, B: ("wrong b", "s2")})
    assert judged(path.trace, 1, replace(bench(), spec=mended)).verdict.outcome == "pass"


@pytest.mark.parametrize("mode", ["eager", "strict"])
def test_a_session_waits_for_silence_before_it_guesses(mode: Any, tmp_path: Path) -> None:  # noqa: ANN401 -- a mode
    """What else belongs to the wrong answer is no output of the next step."""

    def talking() -> Callable[[bytes], Iterator[tuple[float, bytes]]]:
        act = system(TABLE, B, C)()

        def replies(data: bytes) -> Iterator[tuple[float, bytes]]:
            outputs = [*act(data.decode().strip())]
            for at, output in enumerate([*outputs, *(["and", "more"] if outputs == ["wrong b"] else [])]):
                yield 0.002 * at, str(output).encode()

        return replies

    of = Bench(spec(TABLE), codec=lines({str: "{}"}), ports={"p": inprocess(talking)}, quiescence=0.02, latency=0.005)
    summary = campaign(of, tmp_path, mode=mode, steps=10, traces=10)
    assert (kinds(summary), set(guessed(summary)) <= {"'c'"}) == (["'b'"], True)


BEHIND = "seen only behind another failure"
SOURCE = """
from tests.campaign.test_behind import B, C, bench as made
def bench(): return made(B, C)
"""


def test_the_commands_tell_what_was_seen_only_behind_a_failure(tmp_path: Path) -> None:
    """`otf run`, also with processes and continued, `otf report`, `otf show` and `otf replay`."""
    (tmp_path / "six.py").write_text(SOURCE)
    name, out = f"{tmp_path / 'six.py'}:bench", tmp_path / "out"
    drive = ("run", name, "--traces", 30, "--steps", 20, "--seed", 1, "--out", out, "--processes", 2)
    told = otf(*drive)
    assert "1 kind of failure" in told.out
    assert BEHIND in told.out
    (journal := out / "campaign.jsonl").write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:40]))
    again = otf("run", name, "--resume", out, "--json")
    assert [each["signature"] for each in again.data["guessed"]] == ["wrong: str --'c'--> expected str, seen str"]
    assert BEHIND in otf("report", out, "--bench", name).out
    trace = again.data["guessed"][0]["trace"]
    assert GUESSED in otf("show", trace, "--bench", name).out
    assert otf("replay", trace, "--bench", name).status == 1
    assert otf("rerun", trace, "--bench", name).status == 1
