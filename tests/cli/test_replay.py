"""Traces that are read: whole and cut, from files and pipes, of a bench that was changed or is not known."""

from pathlib import Path

import pytest

from tests.cli.command import failed, judged, machine, otf, recorded, refused, rewrite


def test_a_failing_trace_fails_again(trace: Path) -> None:
    """Without the system, a trace of a failure ends with status 1 and the same explanation."""
    done = judged(trace)
    assert done.status == 1
    assert done.out.splitlines()[:2] == [
        f"{trace}: 2 steps",
        "FAIL (missing): Button() -> expected Coffee(), seen nothing",
    ]


def test_the_document_tells_each_trace(trace: Path) -> None:
    """With --json there is an entry for each trace, errors included."""
    other = trace.with_name("path-0001.jsonl")
    first, second, third = judged(trace, other, "nowhere", "--json").data
    assert (first["trace"], first["verdict"], first["recorded"], first["steps"]) == (str(trace), "fail", "fail", 2)
    assert first["signature"] == "missing: int --Button--> expected Coffee, seen silence"
    assert (second["verdict"], second["cut"], second["changed"]) == ("fail", False, False)
    assert (third["verdict"], third["error"].partition(":")[0]) == ("error", "nowhere")


def test_the_worst_of_several_decides(folder: Path, trace: Path) -> None:
    """A failure outweighs a trace that cannot be read, this an inconclusive one, and that one a pass."""
    lines = recorded(trace)
    passing = rewrite(folder / "pass.jsonl", [*lines[:2], {**lines[-1], "verdict": "pass", "steps": 1, "reason": None}])
    assert judged(passing).status == 0
    assert judged(passing, "nowhere").status == 2
    assert judged(passing, "nowhere", trace).status == 1
    assert "PASS" in judged("nowhere", passing).out


def test_a_folder_stands_for_its_traces(folder: Path, trace: Path) -> None:
    """A folder that `otf run` wrote can be judged as a whole; its log is not a trace."""
    done = judged(trace.parent)
    assert done.status == 1
    judged_traces = {line for line in done.out.splitlines() if line.endswith("steps")}
    # on a busy machine the failing path was driven again, and left one trace more
    again = f"{trace.parent}/path-0001.strict.jsonl: 2 steps"
    assert judged_traces - {again} == {f"{trace.parent}/path-0001.jsonl: 2 steps", f"{trace}: 2 steps"}
    (folder / "empty").mkdir()
    assert (
        failed("replay", "empty")
        == "otf: empty: there is no trace in this folder (their names end in .jsonl); `otf run` prints its folder\n"
    )


def test_a_trace_from_standard_input(trace: Path) -> None:
    """A dash reads standard input, for every command that reads a trace."""
    text = trace.read_bytes()
    assert judged("-", stdin=text).status == 1
    assert "standard input, line 1: the trace is empty" in judged("-").err
    shown = otf("show", "-", "--bench", "machine.py:make", stdin=text)
    assert shown.out.startswith("-: bench machine.py:make, seed 1, path 1\n")
    assert otf("rerun", "-", "--bench", "machine.py:make", stdin=text).status == 1


def test_cut_traces_are_judged_as_far_as_they_go(folder: Path, trace: Path) -> None:
    """Wherever a killed tester stopped writing, the whole lines are judged: they show a failure, or decide nothing."""
    text = trace.read_bytes()
    header = text.index(b"\n") + 1
    end = text.rindex(b'{"event":"end"')
    cut = folder / "cut.jsonl"
    for length in range(header, len(text) - 1, 23):
        cut.write_bytes(text[:length])
        done = judged(cut, "--json")
        assert done.data[0]["cut"] is True
        # a line that lacks nothing but its end is whole
        assert (done.status, done.data[0]["verdict"]) == ((1, "fail") if length >= end - 1 else (3, "inconclusive"))
    assert "note: the trace was cut: it was judged up to its last whole line" in judged(cut).out
    cut.write_bytes(text[:header])
    assert "the trace was cut, and the model allows all that is left of it" in judged(cut).out


@pytest.mark.parametrize("length", [0, 1, 60])
def test_a_trace_without_its_header(folder: Path, trace: Path, length: int) -> None:
    """An empty trace, and one in which not even the first line is whole, cannot be judged."""
    cut = folder / "cut.jsonl"
    cut.write_bytes(trace.read_bytes()[:length])
    assert refused(cut).startswith(f"otf: {cut}, line 1: ")


def test_a_model_that_has_changed(folder: Path, trace: Path) -> None:
    """A trace is judged by the model of today, with a note; what failed may pass now."""
    assert "note" not in judged(trace).out
    machine(folder, {"goto(paid - 10, Coffee())": "goto(paid - 10)  # sold out"})
    done = judged(trace)
    assert done.status == 0
    assert (
        "note: the model has changed since this trace was recorded; it was judged against the current model" in done.out
    )
    assert "note: the recorded verdict is fail" in done.out
    assert judged(trace, "--json").data[0]["changed"] is True


def test_parameters_that_are_gone(folder: Path, trace: Path) -> None:
    """A parameter that the bench does not have any more is left out, with a note; one that does not fit is refused."""
    lines = recorded(trace)
    lines[0]["parameters"]["sugar"] = 3
    done = judged(rewrite(folder / "old.jsonl", lines))
    assert done.status == 1
    assert done.err == "otf: note: machine.py:make has no parameter 'sugar'; its value in the trace is ignored\n"
    lines[0]["parameters"] = {"cups": "many"}
    message = "old.jsonl: the trace was recorded with cups='many', which a trace may not choose"
    assert message in refused(rewrite(folder / "old.jsonl", lines))


def test_a_misspelt_parameter(folder: Path, trace: Path) -> None:
    """Without the parameter that was meant, a right system would be driven and pass: otf refuses, unless it is set."""
    lines = recorded(trace)
    lines[0]["parameters"]["brokne"] = lines[0]["parameters"].pop("broken")
    misspelt = rewrite(folder / "misspelt.jsonl", lines)
    assert "machine.py:make has no parameter 'brokne'; did you mean broken? Correct the header" in refused(misspelt)
    assert otf("rerun", misspelt, "--bench", "machine.py:make", "--set", "broken=true").status == 1


def test_a_trace_names_its_parameters(folder: Path, trace: Path) -> None:
    """Parameters of the run stand in the header and need not be said again; --set changes them."""
    assert recorded(trace)[0]["parameters"]["broken"] is True
    assert otf("rerun", trace, "--bench", "machine.py:make", "--out", "again").status == 1
    assert otf("rerun", trace, "--bench", "machine.py:make", "--set", "broken=false").status == 0
    assert recorded(folder / "again" / "rerun-0001.jsonl")[0]["parameters"]["broken"] is True


def test_a_trace_does_not_choose_the_bench_that_is_loaded(folder: Path, trace: Path) -> None:
    """A bench that is not shipped is loaded only if the user names it: a trace must not make otf run a file."""
    lines = recorded(trace)
    lines[0]["bench"] = "evil.py"
    (folder / "evil.py").write_text("raise SystemExit('I was loaded')", encoding="utf-8")
    for command in ("replay", "show", "rerun", "shrink"):
        told = failed(command, rewrite(folder / "evil.jsonl", lines))
        assert "the trace is of the bench 'evil.py', which is not shipped" in told
        assert "--bench BENCH" in told
