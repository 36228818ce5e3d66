"""`otf compare`: where two traces or two campaigns part, and what else differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from otf.report.aligned import ConditionPair, TraceRow
from otf.report.compare import ComparedTrace, Comparison, compared
from tests.cli.command import Result, failed, otf, recorded, rewrite
from tests.report.runs import HOSTILE, header

STRICT = ("--seed", 1, "--traces", 2, "--mode", "strict", "--no-saved", "--no-shrink")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Campaigns of the same seed: of a right coffee machine, and of one that gives coffee for free."""
    folder = tmp_path_factory.mktemp("runs")
    otf("run", "coffee", *STRICT, "--out", folder / "right")
    otf("run", "coffee", *STRICT, "--set", "fault=free", "--out", folder / "free")
    return folder


def both(runs: Path, *options: object) -> Result:
    """Compare the first paths."""
    return otf("compare", runs / "right" / "path-0001.jsonl", runs / "free" / "path-0001.jsonl", *options)


def test_the_first_event_at_which_two_traces_part(runs: Path) -> None:
    """It is shown with the states that were possible, the events around it, and the parameter that differs."""
    done = both(runs)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert "  parameter fault  right: none" in lines
    at = lines.index("They part at event 47, in step 21.")
    assert lines[at + 1] == "  possible there  0"
    assert lines[at + 7 : at + 10] == ["          -> Button()", "  right   quiet", "  free    <- Coffee()"]


def test_campaigns_of_other_seeds(runs: Path, tmp_path: Path) -> None:
    """They send other inputs from the first on, and no event is named as if it meant something."""
    otf("run", "coffee", *STRICT, "--seed", 2, "--out", tmp_path / "other")
    done = otf("compare", runs / "right", tmp_path / "other", "--page", tmp_path / "page.html", "--exit-code")
    assert done.status == 0
    assert done.out.startswith("no difference: ")
    assert "Their seeds differ" in done.out
    for said in (done.out, (tmp_path / "page.html").read_text(encoding="utf-8")):
        assert "part at event" not in said
        assert "same or not" not in said


def test_figures_that_differ_by_chance() -> None:
    """The first line does not say that nothing differs while a table below shows figures that do."""
    conditions = [ConditionPair("seed", "1", "2")]
    figures = [ConditionPair("verdict", "pass", "pass"), ConditionPair("transitions visited", "9 of 9", "8 of 9")]
    found = Comparison("old", "new", None, conditions, figures)
    assert found.headline().startswith("the verdicts and the kinds of failure agree: 0 kinds of failure only in A")
    assert replace(found, figures=figures[:1]).headline().startswith("no difference: ")


def test_as_a_document(runs: Path) -> None:
    """The same as JSON."""
    data = both(runs, "--json").data
    assert data["conditions"] == [{"what": "parameter fault", "a": "none", "b": "free"}]
    assert data["traces"]["parts"] == {"event": 47, "step": 21, "states_a": ["0"], "states_b": ["0"]}
    assert {"mark": "|", "a": "quiet", "b": "<- Coffee()", "fields": []} in data["traces"]["events"]


def test_two_campaigns(runs: Path, tmp_path: Path) -> None:
    """Their figures, the kinds of failure of each, and the first two paths of a number that part."""
    page = tmp_path / "page.html"
    done = otf("compare", runs / "right", runs / "free", "--page", page)
    figures = [line.split() for line in done.out.splitlines()[3:8]]
    assert figures[0] == ["right", "free", "difference"]
    assert figures[1] == ["verdict", "pass", "fail", "differs"]
    assert figures[2] == ["paths", "2", "2", "the", "same"]
    assert figures[3][-1].endswith("%") or figures[3][-2:] == ["the", "same"]
    assert "  unasked: Button() -> expected no output, seen Coffee()" in done.out
    head = "they differ: 0 kinds of failure only in {}, 1 only in {}, 0 in both; "
    head += "2 of 2 paths of the same number end otherwise; verdict: pass in {}, fail in {}"
    assert done.out.startswith(f"{head.format('right', 'free', 'right', 'free')}\n")
    counts = {"kinds_both": 0, "kinds_only_a": 0, "kinds_only_b": 1, "paths_both": 2, "paths_other": 2}
    data = otf("compare", runs / "right", runs / "free", "--json").data
    assert data["counts"] == counts
    events = data["traces"]["counts"]
    tally = (
        f"they differ: 1 event replaced, {events['only_a']} only in right, 0 only in free; {events['same']} the same"
    )
    assert tally in done.out
    assert "They part at event 47, in step 21." in done.out
    assert "times from an input to its first output:\n  Button  right: half within " in done.out
    assert done.out.endswith(f"page: {page}\n")


def test_the_page_of_two_campaigns(runs: Path, tmp_path: Path) -> None:
    """It says what the terminal says, in whole sentences, and of what there are too few times to tell a drift."""
    page = tmp_path / "page.html"
    said = otf("compare", runs / "right", runs / "free", "--page", page).out.splitlines()
    first, tally = [line for line in said if line.startswith("they differ: ")]
    written = page.read_text(encoding="utf-8")
    assert f'<p role="status" class="verdict inconclusive">T{first[1:]}</p>' in written
    assert f"<p>T{tally[1:]}</p>" in written
    assert "<td><code>99 of 100: too few to tell</code></td>" in written
    assert "They part at event 47" in written
    assert "<td><code>They" not in written


def test_the_same_campaign_twice(runs: Path, tmp_path: Path) -> None:
    """Nothing differs."""
    page = tmp_path / "page.html"
    done = otf("compare", runs / "right", runs / "right", "--page", page)
    assert "they were recorded under the same conditions\nno two paths of the same number part\n" in done.out
    assert "under the same conditions" in page.read_text(encoding="utf-8")
    data = otf("compare", runs / "right", runs / "right", "--json").data
    assert (data["traces"], data["conditions"]) == (None, [])


def test_the_same_trace_twice(runs: Path) -> None:
    """All its events are the same."""
    trace = runs / "right" / "path-0001.jsonl"
    assert "All events are the same." in otf("compare", trace, trace).out


def test_silences_of_eager_runs_depend_on_timing(runs: Path, tmp_path: Path) -> None:
    """They are not compared with those of a strict run; the output says so."""
    otf("run", "coffee", "--seed", 1, "--traces", 1, "--no-saved", "--out", tmp_path / "eager")
    done = otf("compare", runs / "right" / "path-0001.jsonl", tmp_path / "eager" / "path-0001.jsonl")
    assert "Silences are not compared: they depend on timing." in done.out
    assert "quiet" not in done.out


def test_a_trace_with_a_folder(runs: Path) -> None:
    """They cannot be compared."""
    message = failed("compare", runs / "right", runs / "right" / "path-0001.jsonl")
    assert "path-0001.jsonl is a trace: compare two traces, two folders of campaigns or two models" in message
    for other in (runs / "right", runs / "right" / "path-0001.jsonl"):
        assert failed("compare", "coffee", other).startswith(f"otf: coffee is a model and {other} is a ")
    assert "coffe: there is no such folder, trace or model; did you mean coffee?" in failed(
        "compare", "coffe", runs / "right"
    )


def test_hostile_conditions_are_text(runs: Path, tmp_path: Path) -> None:
    """A version that a stranger's trace names does nothing, neither in a page nor in a terminal."""
    trace, page = runs / "right" / "path-0001.jsonl", tmp_path / "page.html"
    first, *rest = recorded(trace)
    hostile = rewrite(tmp_path / "hostile.jsonl", [{**first, "versions": {HOSTILE: HOSTILE}}, *rest])
    done = otf("compare", trace, hostile, "--page", page)
    assert "\x1b" not in done.out
    written = page.read_text(encoding="utf-8")
    assert written.count("<script") == 1
    assert "<img" not in written


def trace(texts: Iterator[str] | list[str]) -> ComparedTrace:
    """A trace with these events."""
    listed = list(texts)
    found = ComparedTrace("trace", header())
    found.texts, found.keys = listed, list(listed)
    found.states, found.sent = [()] * len(listed), list(range(len(listed)))
    return found


def test_none_and_very_many_events() -> None:
    """An empty trace parts from another at once; of long ones only the events around the parting are shown."""
    assert compared(trace([]), trace([])).event is None
    empty = compared(trace([]), trace(["-> a"]))
    assert (empty.event, empty.rows) == (1, [TraceRow("|", "the trace ends: ", "-> a")])
    long = compared(trace(map(str, range(100_000))), trace(map(str, [*range(99_000), *range(99_500, 100_000)])))
    assert long.event == 99_001
    assert len(long.rows) < 40


def test_words_that_the_system_draws_are_no_difference() -> None:
    """A word that only one run has may stand for one of the other run; the result says how often that was assumed."""

    def run(drawn: str, answer: str = "ok", again: str = "") -> ComparedTrace:
        return trace(["-> 'new'", f"<- ('id', '{drawn}')", f"-> ('get', '{again or drawn}')", f"<- '{answer}'"])

    same = compared(run("3975c4ab"), run("02e37665"))
    assert same.event is None
    assert same.rows[0] == TraceRow("~", "<- ('id', '3975c4ab')", "<- ('id', '02e37665')")
    assert same.tally() == "no difference: 4 the same, 2 but for words that the system may draw (ids, ports)"
    assert compared(run("3975c4ab"), run("02e37665", "no")).event == 4
    # the other run sends another id than the one it got, or has the word of this one in another place
    assert compared(run("3975c4ab"), run("02e37665", again="7777beef")).event == 3
    assert compared(run("3975c4ab"), run("02e37665", "3975c4ab")).event == 2


def test_a_value_at_which_one_run_failed_is_a_difference() -> None:
    """Even if it might be a word that the system drew."""
    right, wrong = trace(["-> 'get'", "<- 'key1500'"]), trace(["-> 'get'", "<- 'key1700'"])
    assert compared(right, wrong).event is None
    wrong.wrong = 1
    assert [compared(right, wrong).event, compared(wrong, right).event] == [2, 2]


def test_a_plain_number_that_comes_back_in_no_input_is_a_difference() -> None:
    """It may be a balance; a number that the tester sends back is an id."""
    one, other = (trace(["-> 'get'", f"<- {number}", "-> 'next'"]) for number in (1500, 1700))
    assert compared(one, other).event == 2
    one, other = (trace(["-> 'get'", f"<- {number}", f"-> {number}"]) for number in (1500, 1700))
    assert compared(one, other).event is None


def test_after_an_insertion_the_same_events_stand_side_by_side() -> None:
    """As in a diff; long common parts are folded, and the counts are of all events."""
    events = [f"-> {name}" for name in "abcdefghijklmnop"]
    longer = compared(trace(events), trace(["-> x", *events, "-> y"]))
    assert longer.events.counts == {"same": 16, "drawn": 0, "changed": 0, "only_a": 0, "only_b": 2, "uncompared": 0}
    assert longer.tally() == "they differ: 0 events replaced, 0 only in A, 2 only in B; 16 the same"
    marks = "".join(row.mark for row in longer.rows)
    assert marks == ">===…===|"
    assert longer.rows[4].a == "10 events, the same in both"


def test_a_run_that_is_the_beginning_of_the_other() -> None:
    """It ends earlier: no event differs before."""
    one, other = trace(["-> a", "-> b"]), trace(["-> a", "-> b", "-> c", "<- d"])
    assert compared(one, other).tally(("old", "new")) == "they differ: old ends 2 events earlier; 2 the same"
    assert compared(other, one).tally(("old", "new")) == "they differ: new ends 2 events earlier; 2 the same"
    assert compared(trace(["<- x"]), other).tally().startswith("they differ: 1 event replaced, 0 only in A, 3 only")


def test_a_known_issue_is_counted(folder: Path) -> None:
    """Two campaigns that show only a known issue: the first line and a row of the figures have it."""
    text = "from dataclasses import replace\nfrom otf.adapter import KnownIssue\nfrom otf.models import coffee\n"
    text += "issue = KnownIssue(lambda failure: True, 'all of it')\n"
    (folder / "known.py").write_text(f"{text}bench = replace(coffee.bench(fault='free'), known_issues=(issue,))\n")
    otf("run", "known.py", *STRICT, "--out", "old")
    done = otf("compare", "old", "old", "--bench", "known.py")
    assert done.out.startswith("no difference: ")
    assert done.out.partition("\n")[0].endswith("; known issues: 1 in A, 1 in B")
    assert "\n  known issues         1 " in done.out


def test_what_is_left_out_is_counted() -> None:
    """Rows beyond a bound, events after the end of the other trace, and events too many to be aligned."""
    one, other = (trace([f"-> {name}{at}" for at in range(50)]) for name in "xy")
    assert compared(one, other).rows[-1] == TraceRow("…", "20 more rows", "20 more rows")
    assert compared(trace([]), one).rows[-1] == TraceRow("…", "", "46 more events")
    very = [compared(trace([f"-> {name}{at}" for at in range(1_500)]), trace(["-> z"])).events for name in "x"]
    assert very[0].counts["uncompared"] == 500


def test_commands_stay_on_a_line(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where events are left out, the commands that show all are copied whole from a narrow terminal."""
    monkeypatch.setenv("COLUMNS", "40")
    lines = both(runs).out.splitlines()
    assert lines[-2:] == [f"  look at all:  otf show {runs / side / 'path-0001.jsonl'}" for side in ("right", "free")]


def test_the_field_that_differs_is_named() -> None:
    """Of two events of one kind; where their texts are the same, it is the port."""
    found = compared(trace(["<- Read(size=1, of='a')"]), trace(["<- Read(size=2, of='a')"]))
    assert found.rows[0].fields == (ConditionPair("size", "1", "2"),)
    left, right = trace(["<- 'a'"]), trace(["<- 'a'"])
    left.keys, right.keys = [("seen", "left", "a")], [("seen", "right", "a")]
    assert compared(left, right).rows[0].fields == (ConditionPair("port", "left", "right"),)


def test_two_models_and_what_their_systems_do_there() -> None:
    """A bench and another of its kind: the shortest inputs that they answer differently, sent to both."""
    done = otf("compare", "coffee", "otf.models.coffee", "--exit-code")
    assert done.status == 0, done.out
    assert "no difference: they answer all inputs that both have in the same way" in done.out


def test_two_versions_that_were_learnt_are_told_apart_in_one_command(tmp_path: Path) -> None:
    """Two folders of `otf learn`: the shortest sequence, the answers of both models and systems, and status 1."""
    pytest.importorskip("aalpy")
    for fault in ("none", "free"):
        otf("learn", "coffee", "--set", f"fault={fault}", "--out", tmp_path / fault)
    folders = tmp_path / "none", tmp_path / "free"
    done = otf("compare", *folders, "--exit-code")
    assert done.status == 1
    assert "  A   Button() / nothing    (the system: nothing)" in done.out
    assert "  B   Button() / Coffee()    (the system: Coffee())" in done.out
    assert otf("compare", *folders).status == 0
    (one,) = otf("compare", *folders, "--json").data["differences"]
    assert one["inputs"] == ["Coin(cents=10)", "Button()", "Button()"]
    pictures = [folder / "learned.dot" for folder in folders]
    assert otf("compare", *pictures, "--exit-code").status == 1


def test_models_that_differ_where_their_systems_do_not(tmp_path: Path) -> None:
    """A model of the same system that is wrong: both systems are asked, and the output says so."""
    wrong = "from dataclasses import replace\nfrom otf import goto\nfrom otf.models.coffee import bench as right\n"
    wrong += "made = right()\ndef step(state, inp): yield goto(state)\n"
    wrong += "spec = type(made.spec)(step, made.spec.initial, [*made.spec.inputs(made.spec.initial)])\n"
    (tmp_path / "wrong.py").write_text(f"{wrong}bench = replace(made, spec=spec)\n")
    done = otf("compare", "coffee", tmp_path / "wrong.py")
    assert "  both systems answer the same there: a model is wrong" in done.out


def test_what_a_model_allows_and_the_system_never_does(tmp_path: Path) -> None:
    """Of a model with a choice and one without it: which allows more, and by which inputs that is reached."""
    head = "from otf import Spec, goto\n"
    (tmp_path / "one.py").write_text(f"{head}spec = Spec(lambda state, inp: [goto(state, 'ok')], 0, ['get'])\n")
    (tmp_path / "both.py").write_text(
        f"{head}spec = Spec(lambda state, inp: [goto(state, 'ok'), goto(state, 'busy')], 0, ['get'])\n"
    )
    done = otf("compare", f"{tmp_path}/one.py:spec", f"{tmp_path}/both.py:spec", "--exit-code")
    assert done.status == 1
    assert "1. after 1 input: B allows what A never does\n  A   get / ok\n  B   get / busy or ok\n" in done.out
    assert (
        otf("compare", f"{tmp_path}/both.py:spec", f"{tmp_path}/one.py:spec", "--json").data["differences"][0]["wider"]
        == "A"
    )


def test_models_that_differ_in_a_field_and_in_their_inputs(tmp_path: Path) -> None:
    """The first line has the counts, the field that differs is named, and the page says the same as the terminal."""
    for name, size in (("one", 1), ("two", 2)):
        (tmp_path / f"{name}.py").write_text(
            "from dataclasses import make_dataclass\nfrom otf import Spec, goto\n"
            "Got = make_dataclass('Got', ['size', 'of'], frozen=True)\n"
            f"spec = Spec(lambda state, inp: [goto(state, Got({size}, 'a'))], 0, ['get', 'in {name}'])\n"
        )
    page = tmp_path / "page.html"
    done = otf("compare", f"{tmp_path}/one.py:spec", f"{tmp_path}/two.py:spec", "--page", page)
    head = "they differ: 1 difference in their answers; 1 input only in A, 1 only in B"
    assert done.out.startswith(f"{head}\n")
    assert "      differs in size: 1 in A, 2 in B\n" in done.out
    assert done.out.endswith(f"page: {page}\n")
    written = page.read_text(encoding="utf-8")
    assert f'class="verdict inconclusive">T{head[1:]}</p>' in written
    assert "differs in size: 1 in A, 2 in B" in written
    none = otf("compare", "coffee", "tickets").out
    assert none.startswith(
        "they differ: 0 differences in their answers; 3 inputs only in A, 4 only in B, none in both\n"
    )


def test_runs_that_part_have_a_status_if_it_is_asked_for(runs: Path) -> None:
    """`--exit-code`: 1 for two traces and two campaigns that differ, 0 for those that do not."""
    assert both(runs, "--exit-code").status == 1
    assert both(runs, "--json").data["differ"]
    assert otf("compare", runs / "right", runs / "free", "--exit-code").status == 1
    assert otf("compare", runs / "right", runs / "right", "--exit-code").status == 0


def test_what_counts_whatever_the_seeds() -> None:
    """Another verdict and a kind of failure that one lacks; with the same seed, less of the model visited as well."""

    def differ(figure: str, a: str, b: str, kinds: tuple[str, str] = ("2", "1"), *, same: bool = False) -> bool:
        pairs = [ConditionPair(figure, a, b)], [ConditionPair("wrong", *kinds)]
        return Comparison("old", "new", None, [] if same else [ConditionPair("seed", "1", "2")], *pairs).differ

    assert differ("verdict", "pass", "inconclusive")
    assert not differ("verdict", "pass, 1 known issue", "pass, 2 known issues")
    assert not differ("states visited", "4 of 5", "3 of 5")
    assert differ("states visited", "4 of 5", "3 of 5", ("1", "1"), same=True)
    assert not differ("states visited", "3 of 5", "4 of 5", ("1", "1"), same=True)
    assert not differ("states visited", "4 of 5", "3 of 3", ("1", "1"), same=True)  # another model
    # no share of a known whole
    assert not differ("states visited", "39, 8 of them among the 2,000 explored", "8", ("1", "1"), same=True)
    assert not differ("steps", "100", "90")
    assert differ("steps", "100", "100", kinds=("1", "0"))


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ("nowhere", "nothing", "nowhere: there is no such folder, trace or model"),
        ("nowhere", "right", "nowhere: there is no such folder, trace or model; give two folders of campaigns"),
        ("cofee", "coffee", "cofee: there is no such folder, trace or model; did you mean coffee?"),
        ("rihgt", "free", "rihgt: there is no such folder, trace or model; did you mean right?"),
        ("right", "path.jsonl", "path.jsonl: there is no such folder, trace or model; give two folders"),
        ("model.dot", "coffee", "model.dot: No such file or directory; name a file with a model, .dot, .gv or .aut"),
    ],
)
def test_what_is_not_there(runs: Path, monkeypatch: pytest.MonkeyPatch, a: str, b: str, says: str) -> None:
    """The message names each, what was probably meant or what is possible, and no bench where no bench was meant."""
    monkeypatch.chdir(runs)
    message = failed("compare", a, b)
    assert says in message
    assert "there is no bench" not in message


def test_a_folder_in_which_nothing_was_learnt(runs: Path, tmp_path: Path) -> None:
    """Its traces are not a campaign, so two such folders are never called the same; the message says what to do."""
    first = recorded(runs / "right" / "path-0001.jsonl")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        rewrite(tmp_path / name / "path-0001.jsonl", [{**first[0], "strategy": "learn"}, *first[1:]])
    message = failed("compare", tmp_path / "one", tmp_path / "two", "--exit-code")
    assert f"{tmp_path / 'one'}: `otf learn` has left no learned.py in it" in message
    (tmp_path / "one" / "learned.py").touch()
    message = failed("compare", tmp_path / "one", runs / "right")
    assert f"{tmp_path / 'one'}: this is a folder of `otf learn`; compare it with another one" in message
