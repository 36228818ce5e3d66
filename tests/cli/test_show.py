"""`otf show`: a trace as a table."""

from pathlib import Path

from tests.cli.command import machine, otf, recorded, rewrite

FROM = ("--bench", "machine.py:make")
KEPT = ("event", "level", "timestamp", "n", "at", "seconds")


def test_the_failing_step_is_marked(trace: Path) -> None:
    """The table has a row for each event, the states after each step, the failing event, and what was allowed there."""
    done = otf("show", trace, *FROM)
    rows = [line[11:] for line in done.out.splitlines()]
    assert done.status == 0
    assert rows[2:7] == [
        "slot   ->    Coin(cents=10)   [63 6f 69 6e 20 31 30  'coin 10']",
        "       quiet (timed)",
        " " * 13 + "{ 10 }",
        "slot   ->    Button()   [62 75 74 74 6f 6e  'button']",
        "       quiet (timed)  <== here",
    ]
    assert "  possible state: 10\n    allows:        Coffee()\n                   -> 0\n" in done.out
    assert done.out.endswith("  seen:            nothing\n")


def test_a_table_as_a_document(trace: Path) -> None:
    """With --json each event is an entry, with the number of its line and its bytes."""
    data = otf("show", trace, *FROM, "--json").data
    assert (data["verdict"], [event["kind"] for event in data["events"]]) == ("fail", ["->", "quiet", "->", "quiet"])
    assert [event["failed"] for event in data["events"]] == [False, False, False, True]
    assert data["events"][0] | {"at": 0} == {
        "line": 2,
        "at": 0,
        "kind": "->",
        "port": "slot",
        "what": "Coin(cents=10)",
        "states": [],
        "raw": "63 6f 69 6e 20 31 30",
        "failed": False,
    }


def test_every_kind_of_event_has_a_row(folder: Path, trace: Path) -> None:
    """Outputs, ended ports and proofs that inputs were taken are shown too; long frames are cut; notes are told."""
    lines = recorded(trace)
    seen = {"event": "seen", "at": 0.5, "port": "slot", "value": {"type": "Coffee"}, "raw": "00" * 100}
    taken = {"event": "taken", "at": 0.6, "upto": 2}
    lines[4:] = [seen, taken, {"event": "closed", "at": 0.7, "port": "slot", "reason": "exit status 3"}]
    done = otf("show", rewrite(folder / "other.jsonl", lines), *FROM)
    assert "   0.5000  slot   <-    Coffee()   [00 00" in done.out
    assert f"[{' '.join(['00'] * 60)} … (100 bytes)]" in done.out
    assert "   0.6000         taken\n" in done.out
    assert "   0.7000  slot   <-    the port ended: exit status 3  <== here\n" in done.out
    assert done.out.endswith("note: the trace was cut: it was judged up to its last whole line\n")


def test_a_pass_is_shown_as_well(folder: Path) -> None:
    """A trace that passes ends with its verdict."""
    machine(folder)
    otf("run", "machine.py", "--seed", 1, "--traces", 1, "--steps", 1, "--out", "out")
    done = otf("show", "out/path-0001.jsonl", "--bench", "machine.py")
    assert done.out.endswith("PASS: everything that was seen is allowed by the model\n")


def test_a_trace_that_lacks_events_is_not_taken_for_whole(folder: Path) -> None:
    """It is shown up to the gap; shown and replayed, it is inconclusive; it is not driven again."""
    machine(folder)
    otf("run", "machine.py", "--seed", 1, "--traces", 1, "--steps", 3, "--out", "out")
    lines = recorded(folder / "out" / "path-0001.jsonl")
    lines[-3:-1] = [{"event": "dropped", "events": 2, "inputs": 1}]
    trace = rewrite(folder / "long.jsonl", lines)
    why = "of its events 2 in the middle were dropped, since it grew too long: those before are judged alone"
    assert otf("show", trace, "--bench", "machine.py").out.endswith(f"INCONCLUSIVE: {why}\n")
    replayed, driven = (otf(command, trace, "--bench", "machine.py") for command in ("replay", "rerun"))
    assert (replayed.status, driven.status) == (3, 3)
    assert why in replayed.out
    assert driven.out == f"INCONCLUSIVE: {trace}: {why}, and there is nothing to drive\n"


def test_a_sequence_chart(trace: Path) -> None:
    """A line for each port and the system, down to the event that fails."""
    done = otf("show", trace, *FROM, "--chart")
    assert done.status == 0
    head, *rows = done.out.splitlines()
    assert head.split() == ["slot", "SUT"]
    assert [row[15:] for row in rows] == [
        "|--------- Coin(cents=10) -------->|",
        ":              quiet               :",
        "|------------ Button() ----------->|",
        ":           nothing more           :  <== here",
    ]
    assert otf("show", trace, *FROM, "--format", "chart").out == done.out


def test_charts_for_other_programs(trace: Path) -> None:
    """SVG for browsers, Mermaid for pages of GitHub, JSON for programs."""
    assert otf("show", trace, *FROM, "--format", "svg").out.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<svg ')
    assert "    P0->>SUT: Coin(cents=10)\n" in otf("show", trace, *FROM, "--format", "mermaid").out
    assert otf("show", trace, *FROM, "--format", "json").out == otf("show", trace, *FROM, "--json").out


def test_a_state_is_what_changed(trace: Path) -> None:
    """After the first, a state is shown as its difference to the one before; --whole shows it as it is."""
    lines = recorded(trace)
    again = [{**line, "at": line["at"] + 0.1} for line in lines[1:3]]
    lines[1]["value"]["cents"] = again[0]["value"]["cents"] = 5
    two = rewrite(trace.parent / "two.jsonl", [lines[0], *lines[1:3], *again])
    assert "{ 5 }" in otf("show", two, *FROM).out
    assert [event["states"] for event in otf("show", two, *FROM, "--json").data["events"]] == [[], ["5"], [], ["10"]]


def test_several_traces_and_folders(trace: Path) -> None:
    """All traces of a folder are shown, one after the other; as a document they are a list."""
    done = otf("show", trace, trace.parent, *FROM)
    names = [line.split(": bench ")[0] for line in done.out.splitlines() if ": bench machine.py" in line]
    assert names[0] == str(trace)
    assert sorted(names[1:]) == sorted(map(str, trace.parent.glob("path-*.jsonl")))
    assert [each["trace"] for each in otf("show", trace.parent, *FROM, "--json").data] == names[1:]


def test_stalls_in_a_row_are_one_row(trace: Path) -> None:
    """A busy machine stalls all the time: the table says how often and how long, the document has each."""
    header, first, *rest = recorded(trace)
    stalls = [{**first, "event": "stalled", "at": first["at"] + 0.01 * n, "seconds": 0.25 * n} for n in (1, 2, 3)]
    rewrite(trace, [header, first, *({key: stall[key] for key in KEPT} for stall in stalls), *rest])
    done = otf("show", trace, *FROM)
    assert "stall (3 times, 1.500 s in all)" in done.out
    assert done.out.count(" stall ") == 1
    kinds = [event["kind"] for event in otf("show", trace, *FROM, "--json").data["events"]]
    assert kinds == ["->", "stall", "stall", "stall", "quiet", "->", "quiet"]


def test_rows_are_in_the_order_of_time(trace: Path) -> None:
    """A stall is known at its end, and is recorded behind what came meanwhile."""
    header, first, *rest = recorded(trace)
    stall = {key: {**first, "event": "stalled", "at": first["at"] / 2, "seconds": 0.25}[key] for key in KEPT}
    rewrite(trace, [header, first, stall, *rest])
    rows = otf("show", trace, *FROM).out.splitlines()[2:4]
    assert ["stall" in row for row in rows] == [True, False]
