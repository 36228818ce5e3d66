"""Reports in words, for what is rare in real runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.campaign import FailureGroup, PathResult, Retried, Settings, Shrunk, Summary
from otf.cli.benches import load
from otf.cli.options import SystemOptions
from otf.cli.summary import SummaryPrinter
from otf.runner.time_spent import TimeSpent
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.trace.explain import BRANCHES, OUTPUTS, explanation, story
from otf.trace.verdict import Allowed, Failure, Signature, Verdict

SIGNATURE = Signature("wrong", "int", "str", "str", "str")
FAILURE = Failure(SIGNATURE, event=3, step=1, input="'coin'", seen="'tea'", port="slot", before=("'clink'",))
FAILED = Verdict("fail", FAILURE)
EVENTS: tuple[Event, ...] = (Sent("coin", "slot", 0.1), Seen("clink", "slot", 0.2), Seen("tea", "slot", 0.3))
PATH = PathResult(1, FAILED, 9, Path("path.jsonl"), EVENTS)
SHRUNK = Shrunk(Path("short.jsonl"), 1, 40, 20, 1.0, FAILED, minimal=True, events=EVENTS)


def told(summary: Summary, capsys: pytest.CaptureFixture[str], seconds: float = 1.25, bench: str = "coffee") -> str:
    """The printed summary of a campaign."""
    summary.parts.seconds = {"paths": seconds}
    SummaryPrinter(summary, Settings(out=Path("out"), reference=bench, seed=7), load(bench)).whole()
    return capsys.readouterr().out


def failing(shrunk: Shrunk | None, tries: int = 0) -> Summary:
    """A campaign with one failure."""
    return Summary(paths=3, steps=27, failures={SIGNATURE: FailureGroup(SIGNATURE, PATH, 2, tries, shrunk)})


def test_a_wrong_output(capsys: pytest.CaptureFixture[str]) -> None:
    """A failure is told with the step, what had been seen of it, what came then, and on which port."""
    assert told(failing(SHRUNK), capsys).splitlines()[:10] == [
        "FAIL (wrong): 'coin' -> expected str, seen 'tea'",
        "an output came that the model does not allow there",
        "failed on 2 of 3 paths, first after 9 steps, shrunk to 1 (by sending 40 inputs)",
        "  step  input       outputs",
        "     1  'coin'  ->  'clink'",
        "                    'tea'   <== here",
        "",
        "  step 1, input:  'coin'",
        "  seen first:      'clink'",
        "  and then:        'tea'  (on slot)",
    ]


@pytest.mark.parametrize(
    ("shrunk", "text"),
    [
        (None, "first after 9 steps\n"),
        (
            replace(SHRUNK, steps=2, minimal=False, ended="it was interrupted"),
            "the search was stopped early, since it was interrupted: fewer steps may be enough\n",
        ),
        (replace(SHRUNK, minimal=False, ended="it was interrupted"), "shrunk to 1 (by sending 40 inputs)\n  step"),
        (
            replace(SHRUNK, transitions=0, minimal=False, ended="the time of 4 s was used up"),
            "first after 9 steps\n",
        ),
        (
            replace(SHRUNK, rate=0.0, before=0.0, tried=10),
            "after 9 steps\nit did not recur in 10 later runs of the same inputs: it depends on chance or on timing\n",
        ),
    ],
)
def test_shrinking_that_did_not_come_to_its_end(
    shrunk: Shrunk | None, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether and how far a failure was shrunk is said."""
    assert text in told(failing(shrunk), capsys)


def test_a_failure_that_is_rare(capsys: pytest.CaptureFixture[str]) -> None:
    """A failure of eager mode that strict mode saw only in a later try may depend on chance."""
    assert "it took 3 strict runs of the same inputs to reproduce it" in told(failing(SHRUNK, tries=3), capsys)
    assert "strict runs" not in told(failing(SHRUNK, tries=1), capsys)


def test_a_failure_that_did_not_recur_to_be_shrunk(capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence has both: which strict run reproduced it, and how many later ones did not."""
    text = told(failing(replace(SHRUNK, rate=0.0, before=0.0, tried=10), tries=3), capsys)
    assert "of 3 strict runs of the same inputs the last reproduced it, 10 later runs did not: it depends on" in text
    assert text.count("depends on chance") == 1


def test_an_end_that_no_strict_re_run_showed(capsys: pytest.CaptureFixture[str]) -> None:
    """It counts, and the summary does not say that a re-run reproduced it."""
    summary, ended = failing(None, tries=3), replace(SIGNATURE, kind="ended")
    [group] = summary.failures.values()
    summary.failures = {ended: replace(group, signature=ended)}
    assert "it did not recur in 3 strict re-runs of the same inputs: it depends on chance" in told(summary, capsys)


def test_a_shorter_trace_that_failed_once_is_said_to_have_failed(capsys: pytest.CaptureFixture[str]) -> None:
    """The rates are those measured: none of the last runs, and some of the original."""
    text = told(failing(replace(SHRUNK, rate=0.0, runs=20, before=0.3, tried=10)), capsys)
    assert "shrunk to 1" in text
    assert "these steps failed in 0 of 20 runs, the original in 3 of 10 runs\n" in text
    assert "did not recur" not in text


def test_several_failures_are_numbered(capsys: pytest.CaptureFixture[str]) -> None:
    """A rule with the number of each stands above it, and a list of all at the end; one alone has neither."""
    summary = failing(SHRUNK)
    assert "1 of" not in told(summary, capsys).replace("1 of 3", "")
    other = replace(SIGNATURE, kind="missing")
    summary.failures[other] = FailureGroup(other, PATH)
    lines = told(summary, capsys).splitlines()
    assert [line for line in lines if line.startswith("----")] == [
        "---- 1 of 2 ".ljust(72, "-"),
        "---- 2 of 2 ".ljust(72, "-"),
    ]
    assert [line for line in lines if line.startswith("   ") and "path" in line][-2:] == [
        "   1  wrong: 'coin' -> expected str, seen 'tea' (2 paths): short.jsonl",
        "   2  wrong: 'coin' -> expected str, seen 'tea' (1 path): path.jsonl",
    ]


def test_a_failure_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    """What was printed as soon as it was shrunk is left out at the end; what earlier runs left is told there."""
    summary = failing(SHRUNK)
    summary.saved = [Retried(Path("b"), SIGNATURE)]
    printer = SummaryPrinter(summary, Settings(out=Path("out"), reference="coffee", seed=7), load("coffee"))
    printer.failure(summary.failures[SIGNATURE])
    first = capsys.readouterr().out
    assert first.startswith(
        "1 failure saved in . by an earlier run was tried first (--no-saved leaves it out): fixed\nFAIL ("
    )
    assert "\nfailed on 2 of 3 paths, " in first
    printer.whole()
    headline, _, earlier = capsys.readouterr().out.splitlines()[:3]
    assert headline.startswith("FAIL: 1 kind of failure")
    assert earlier == f"from an earlier run, fixed: {SIGNATURE} (b, now deleted)"


def test_what_a_command_was_given_is_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    """Where the system is stands in no trace: the command that drives it again says it, and only that one."""
    options = SystemOptions(sut=["line=exec:a b"], silence="timed", pids=["7"]).unrecorded
    settings = Settings(out=Path("out"), reference="coffee", seed=7)
    SummaryPrinter(failing(SHRUNK), settings, load("coffee"), options).whole()
    text = capsys.readouterr().out
    assert "drive it again:  otf rerun short.jsonl --sut 'line=exec:a b' --pid 7 --silence timed\n" in text
    assert text.count("--sut") == 1


def test_a_test_is_offered_where_pytest_is_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pytest the line says why the command would not run."""
    summary = failing(replace(SHRUNK, program=Path("out/short.py")))
    assert "as a test:       pytest out/short.py\n" in told(summary, capsys)

    def none_found(_name: str) -> None:
        """Find no module."""

    monkeypatch.setattr("otf.cli.summary.find_spec", none_found)
    assert "as a test:       pytest out/short.py  (pytest is not installed)\n" in told(summary, capsys)


def test_what_is_worth_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    """Paths that ended early and outputs that came late are counted, one and several."""
    said = told(Summary(paths=2, steps=5, truncated=1, late=2), capsys)
    assert "1 path ended early: an input arrived where the model does not specify it" in said
    assert "2 outputs came after the quiescence time, but before quiescence was concluded" in said


def test_inconclusive_paths_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A path that decided nothing is told with its reason, and where to look."""
    result = PathResult(2, Verdict("inconclusive", why="the line was lost"), 4, Path("two.jsonl"))
    said = told(Summary(paths=2, steps=5, inconclusive=[result]), capsys)
    assert "inconclusive (1 path): the line was lost\n  look at it:      otf show two.jsonl\n" in said
    assert "INCONCLUSIVE: neither passed nor failed (2 paths, 5 steps, " in said


def test_many_states_and_many_ways() -> None:
    """Each possible state is told with what it allows, in bounds; a state that allows anything is told as such."""
    ways = tuple(((f"'{number}'",), "idle") for number in range(BRANCHES + 3))
    failure = replace(FAILURE, allowed=(Allowed("busy", ways), Allowed("idle", ()), Allowed("done", (((), "idle"),))))
    text = explanation(Verdict("fail", replace(failure, note="stderr: a\nstderr: b")))
    assert "  possible state: busy\n    allows:        '0'\n                   -> idle\n" in text
    assert f"    allows:        '{BRANCHES - 1}'\n                   -> idle\n    … and 3 other branches\n" in text
    assert "  or:             idle\n    allows:        anything: the model does not specify this input here\n" in text
    assert "  or:             done\n    allows:        no output\n" in text
    assert text.endswith("  remarks:\n    stderr: a\n    stderr: b")


def test_verdicts_that_are_no_failures() -> None:
    """A pass, one as far as the model goes, and an inconclusive run each have their sentence."""
    assert explanation(Verdict("pass")) == "PASS: everything that was seen is allowed by the model"
    assert "up to an input that the model does not specify" in explanation(Verdict("pass", truncated=True))
    assert explanation(Verdict("inconclusive", why="x")) == "INCONCLUSIVE: x"


def test_stories_are_short() -> None:
    """Of many outputs the first and the last are told; what came before any input has a row; so has an end."""
    events: list[Event] = [Seen("hello", "slot", 0.0), Quiet(0.1), Sent("coin", "slot", 0.2)]
    events += [Seen(number, "slot", 0.3) for number in range(100)]
    events += [Closed("slot", "exit status 3", 0.4), Seen("never told", "slot", 0.5)]
    rows = story(events, replace(FAILURE, event=len(events) - 1)).splitlines()
    assert rows[1].split() == ["0", "(before", "any", "input)", "->", "'hello'"]
    assert rows[2].split() == ["1", "'coin'", "->", "0"]
    assert [row.strip() for row in rows[3:]] == [
        *(str(number) for number in range(1, OUTPUTS - 1)),
        f"… {101 - OUTPUTS} more",
        "the port slot ended: exit status 3   <== here",
    ]
    assert story([]) == ""


def test_what_depends_on_chance(capsys: pytest.CaptureFixture[str]) -> None:
    """The rates before and after are told, and the test that tries often enough."""
    rare = replace(SHRUNK, rate=0.25, runs=20, before=0.3, tried=10, program=Path("out/path_0001_shrunk.py"))
    text = told(failing(rare), capsys)
    assert "it depends on chance: these steps failed in 5 of 20 runs, the original in 3 of 10 runs\n" in text
    assert "  with 95 % confidence, in 7.2 % to 50 %, and in 5.1 % to 66 % of all runs\n" in text
    assert "  as a test:       pytest out/path_0001_shrunk.py\n" in text


def test_other_failures_that_were_met(capsys: pytest.CaptureFixture[str]) -> None:
    """A failure that was met while another one was shrunk is listed with its trace."""
    text = told(failing(replace(SHRUNK, others=[PATH])), capsys)
    assert "another failure was found on the way: wrong: " in text
    assert f"\n  shrink it:       otf shrink {PATH.trace}\n" in text


def test_failures_of_earlier_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each stands after the headline, with its result; one that recurred has its values, not only their types."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").touch()
    summary = failing(SHRUNK)
    summary.failures[SIGNATURE].count = 0
    summary.saved = [Retried(Path("a"), SIGNATURE, PATH), Retried(Path("b"), SIGNATURE), Retried(Path("c"), why="why")]
    lines = told(summary, capsys).splitlines()
    tried = "3 failures saved in . by earlier runs were tried first (--no-saved leaves them out)"
    assert lines[0] == f"{tried}: 1 still there, 1 fixed, 1 obsolete"
    assert lines[3] == "failed as before, after 9 steps, shrunk to 1 (by sending 40 inputs)"
    at = next(at for at, line in enumerate(lines) if line.startswith("FAIL: 1 kind"))
    earlier = [line for line in lines[at:] if line.startswith("from an earlier run")]
    assert earlier == [
        "from an earlier run, still there: wrong: 'coin' -> expected str, seen 'tea' (a)",
        f"from an earlier run, fixed: {SIGNATURE} (b, now deleted)",
        "from an earlier run, obsolete: why: a failure (c, now deleted)",
    ]


def test_a_failure_by_chance_names_the_command_that_shows_a_repair(capsys: pytest.CaptureFixture[str]) -> None:
    """One run that passes shows nothing then; a failure that always comes needs no such command."""
    command = "  is it repaired:  otf rerun short.jsonl --confidence 0.99"
    assert command in told(failing(replace(SHRUNK, rate=0.5)), capsys)
    assert command not in told(failing(SHRUNK), capsys)


def test_a_failure_that_needed_several_runs_has_its_rate_and_that_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Also where its shrunk steps always fail: whether they do after a repair is still a question of chance."""
    text = told(failing(replace(SHRUNK, runs=20), tries=2), capsys)
    assert "it took 2 strict runs of the same inputs to reproduce it; shrunk, it failed in 20 of 20 runs\n" in text
    assert "chance" not in text  # nobody measured that
    assert "  is it repaired:  otf rerun short.jsonl --confidence 0.99" in text


def test_a_race_has_its_rate_and_that_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Also where each of its runs failed, as in the report: of inputs sent at once, either may be taken first."""
    assert FAILED.failure is not None
    race = replace(FAILED, failure=replace(FAILED.failure, together=2))
    text = told(failing(replace(SHRUNK, verdict=race, runs=4)), capsys)
    assert "\nthese steps failed in 4 of 4 runs\n" in text
    assert "  is it repaired:  otf rerun short.jsonl --confidence 0.99" in text


def test_a_failure_that_ends_most_paths_says_how_to_test_past_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The line is ready for the bench, and is no longer there where most paths come past the failure."""
    summary = failing(SHRUNK)
    summary.failures[SIGNATURE].count = 3
    line = (
        "  from otf.adapter import KnownIssue\n"
        "  known_issues=(\n"
        "      KnownIssue(lambda f: (f.kind, f.input, f.seen) == (\n"
        "          'wrong',\n"
        "          \"'coin'\",\n"
        "          \"'tea'\"), 'why'),\n"
        "  )"
    )
    assert f"3 of 3 paths end at one failure; to test past it, the bench needs\n{line}\n" in told(summary, capsys)
    summary.paths = 6
    assert "known_issues" not in told(summary, capsys)


def test_a_slow_campaign_shows_where_its_time_went(capsys: pytest.CaptureFixture[str]) -> None:
    """Its shares, the largest first, and what to do about that one; shares that round to nothing are left out."""
    spent = TimeSpent(silence=15.0, starts=3.0, wire=0.01, model=0.0, otf=2.0)
    summary = Summary(paths=3, steps=27, spent=spent)
    assert told(summary, capsys, 20.0, "conference").splitlines()[1:4] == [
        "spent: 20.0 s on 0 paths",
        "time: 75% waiting for silence, 15% starting and stopping the system, 10% otf itself",
        "  to save time:    --calibrate suggests shorter times, and a barrier needs no silence; or --jobs",
    ]
    summary.interrupted = True
    assert "time: 75% waiting" in told(summary, capsys, 20.0)
    assert "time:" not in told(summary, capsys, 9.0)
    assert "time:" not in told(Summary(paths=3), capsys, 20.0)


def test_a_system_in_this_process_takes_part_of_the_time_of_otf(capsys: pytest.CaptureFixture[str]) -> None:
    """Its CPU time cannot be told from that of the tester."""
    bench = Bench(load("coffee").spec, system=lambda: lambda _inp: [])
    summary = Summary(spent=TimeSpent(otf=12.0))
    summary.parts.seconds = {"paths": 12.0}
    SummaryPrinter(summary, Settings(out=Path("out"), reference="coffee"), bench).whole()
    assert "time: 100% otf and the system itself\n" in capsys.readouterr().out


def test_saved_failures_are_counted_beside_the_paths(capsys: pytest.CaptureFixture[str]) -> None:
    """Where `--stop-first` ends with a saved failure, "0 paths" is no riddle."""
    summary = failing(SHRUNK)
    summary.paths = summary.steps = summary.failures[SIGNATURE].count = 0
    summary.saved, summary.parts.saved = [Retried(Path("a"), SIGNATURE, PATH)], 1
    settings = Settings(out=Path("out"), reference="coffee", seed=7, stop_first=True)
    SummaryPrinter(summary, settings, load("coffee")).whole()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(": still there; --stop-first ends here, before any path of the seed 7")
    assert "FAIL: 1 kind of failure (1 saved failure tried, 0 paths, 0 steps, seed 7)" in lines
