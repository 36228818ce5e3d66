"""`otf run`: what it prints, what it writes, and how it ends."""

import shlex
from dataclasses import fields, replace
from pathlib import Path

import pytest

from otf.campaign.settings import UNLIMITED, Settings
from otf.cli.resumption import SAME, paths_within, resumed
from otf.cli.run_arguments import RunOptions
from tests.cli.command import failed, machine, otf, recorded

KEYS = {"verdict", "paths", "steps", "failures"}
BROKEN = ("machine.py:make", "--set", "broken=true")


def test_a_pass_says_so_first(folder: Path) -> None:
    """A correct system ends with status 0, one line that says PASS, how far it went, the folder, and the report."""
    machine(folder)
    done = otf("run", "machine.py", "--traces", 3, "--steps", 7, "--seed", 5, "--out", "out")
    verdict, *_, longest, where, report = done.out.splitlines()
    assert done.status == 0
    assert verdict.startswith("PASS: every answer is one that the model allows (3 paths, 21 steps, ")
    assert verdict.endswith(" s, seed 5)")
    assert longest.startswith("longest path: 7 inputs; longest uptime: ")
    assert where == "traces: out/"
    assert report == "report: otf report out --bench machine.py"
    assert len(list((folder / "out").glob("path-*.jsonl"))) == 3


def test_a_failure_is_told_from_the_beginning(folder: Path) -> None:
    """A failure ends with status 1, the shrunk steps as a table, what was allowed, and what to do next."""
    machine(folder)
    done = otf("run", *BROKEN, "--seed", 1, "--traces", 2, "--mode", "strict", "--out", "out")
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[:2] == [
        "FAIL (missing): Button() -> expected Coffee(), seen nothing",
        "an output that the model requires did not come",
    ]
    assert lines[2].startswith("failed on 2 of 2 paths, first after ")
    assert "shrunk to 2 (by sending " in lines[2]
    assert lines[3:] == [
        "  step  input               outputs",
        "     1  Coin(cents=10)  ->  none",
        "     2  Button()        ->  nothing more   <== here",
        "",
        "  step 2, input:  Button()",
        "  possible state: 10",
        "    allows:        Coffee()",
        "                   -> 0",
        "  seen:            nothing",
        "  look at it:      otf show out/path-0001.shrunk.jsonl --bench machine.py:make",
        "  judge it again:  otf replay out/path-0001.shrunk.jsonl --bench machine.py:make",
        "  drive it again:  otf rerun out/path-0001.shrunk.jsonl --bench machine.py:make",
        "  as a test:       pytest out/path_0001_shrunk.py",
        "",
        next(line for line in lines if line.startswith("FAIL: 1 kind of failure (2 paths, ")),
        "traces: out/",
        "report: otf report out --bench machine.py:make",
    ]


def test_what_is_said_can_be_done(folder: Path) -> None:
    """The three commands below a failure work when copied: they show it, judge it and drive it again."""
    machine(folder)
    done = otf("run", *BROKEN, "--seed", 1, "--traces", 1, "--out", "an out folder")
    commands = [
        line.partition("otf ")[2] for line in done.out.splitlines() if " again:  otf " in line or " it:  " in line
    ]
    shown, judged, driven = (otf(*shlex.split(command)) for command in commands)
    assert (shown.status, judged.status, driven.status) == (0, 1, 1)


def test_without_shrinking_the_last_steps_are_told(folder: Path) -> None:
    """With --no-shrink a long path is told by its last twelve steps; one that was shrunk says how far."""
    tired = {"    paid = 0\n": "    paid, served = 0, []\n", "paid -= 10\n": "paid -= 10\n        served.append(1)\n"}
    machine(folder, {**tired, "None if broken": "None if len(served) > 8"})
    lines = otf("run", "machine.py", "--no-shrink", "--seed", 1, "--traces", 1, "--mode", "strict").out.splitlines()
    steps = int(lines[2].removeprefix("failed on 1 of 1 path, first after ").removesuffix(" steps"))
    assert lines[4] == f"        … {steps - 12} steps before these"
    assert [int(line.split()[0]) for line in lines[5:17]] == list(range(steps - 11, steps + 1))
    assert lines[16].endswith("Button()        ->  nothing more   <== here")


def test_the_document_has_what_the_design_says(folder: Path) -> None:
    """With --json standard output is one document: verdict, paths, steps, and each failure with its traces."""
    machine(folder)
    done = otf("run", *BROKEN, "--seed", 3, "--traces", 4, "--out", "out", "--json")
    failure = done.data["failures"][0]
    assert (done.status, done.err) == (1, "")
    assert done.data.keys() >= KEYS
    assert (done.data["verdict"], done.data["paths"], len(done.data["failures"])) == ("fail", 4, 1)
    assert failure.keys() >= {"signature", "trace", "steps", "shrunk"}
    assert failure["signature"] == "missing: int --Button--> expected Coffee, seen silence"
    assert failure["shrunk"]["steps"] == 2
    assert recorded(folder / failure["shrunk"]["trace"])[-1]["verdict"] == "fail"
    assert recorded(folder / failure["trace"])[-1]["steps"] == failure["steps"]


def test_the_document_of_a_pass(folder: Path) -> None:
    """A pass has the same keys, and no failures."""
    machine(folder)
    done = otf("run", "machine.py", "--traces", 2, "--steps", 9, "--out", "out", "--json")
    expected = {"verdict": "pass", "paths": 2, "steps": 18, "interrupted": False, "trouble": ""}
    assert expected.items() <= done.data.items()
    assert done.data["failures"] == []


def test_the_same_seed_gives_the_same_run(folder: Path) -> None:
    """The inputs and outputs of two runs with one seed are the same, and those of another seed are others."""
    machine(folder)

    def values(seed: int, out: str) -> list[object]:
        otf("run", "machine.py", "--seed", seed, "--out", out)
        traces = sorted((folder / out).glob("path-*.jsonl"))
        return [(line["event"], line.get("value")) for trace in traces for line in recorded(trace)]

    assert values(7, "one") == values(7, "two") != values(8, "three")


def test_a_run_without_a_seed_says_which_it_took(folder: Path) -> None:
    """A run that failed by chance can be made again: its seed is printed, and stands in the document."""
    machine(folder)
    seed = otf("run", "machine.py", "--traces", 1, "--json").data["seed"]
    assert f"seed {seed})" in otf("run", "machine.py", "--traces", 1, "--seed", seed).out


def test_traces_go_to_a_new_folder_each_time(folder: Path) -> None:
    """Without --out each run has a folder of its own, two with one seed in the same second as well."""
    machine(folder)
    outs = {otf("run", "machine.py", "--traces", 1, "--seed", 4, "--json").data["out"] for _ in range(3)}
    assert len(outs) == 3
    assert all(out.startswith("otf-runs/machine-") for out in outs)


def test_passing_traces_can_be_dropped(folder: Path) -> None:
    """With --keep failures only the traces of failures stay."""
    machine(folder)
    otf("run", "machine.py", "--traces", 3, "--keep", "failures", "--out", "out")
    assert [path.name for path in (folder / "out").iterdir()] == ["campaign.jsonl"]


def test_the_first_failure_can_be_the_last(folder: Path) -> None:
    """With --stop-first no path follows a failure."""
    machine(folder)
    assert otf("run", *BROKEN, "--stop-first", "--seed", 1, "--json").data["paths"] == 1


def test_time_ends_a_campaign(folder: Path) -> None:
    """With --time no path begins after it."""
    machine(folder)
    done = otf("run", "machine.py", "--traces", 1_000_000, "--time", 0.05, "--keep", "failures", "--json")
    assert done.data["verdict"] == ("pass" if done.data["steps"] else "inconclusive")
    assert done.data["paths"] < 1_000_000


def test_time_alone_bounds_a_campaign(folder: Path) -> None:
    """Without --traces the time is the bound, with a unit or without; with it the first of the two is."""
    machine(folder)
    assert otf("run", "machine.py", "--time", "1h", "--traces", 3, "--json").data["paths"] == 3
    assert [paths_within(*bound) for bound in (("60s", None), (None, "nothing-new=1h"))] == [UNLIMITED, UNLIMITED]
    assert [paths_within(*bound) for bound in ((None, None), (None, "states=7"))] == [10, 10]


def test_a_campaign_of_unlimited_paths_continues_for_its_time(folder: Path) -> None:
    """--resume without a time takes that of the folder."""
    machine(folder)
    otf("run", "machine.py", "--time", "0.05s", "--steps", 5, "--seed", 1, "--out", "out")
    given = RunOptions(bench="machine.py", largest=1, budget=1)
    options, _ = resumed(Path("out"), given)
    assert (options.time, options.traces) == (0.05, UNLIMITED)
    assert resumed(Path("out"), replace(given, time=7.0))[0].time == 7.0
    # on a busy machine so short a time may be over before the first input
    done = otf("run", "machine.py", "--resume", "out", "--json").data
    assert done["verdict"] == ("pass" if done["steps"] else "inconclusive")


def test_a_campaign_ends_when_nothing_is_new(folder: Path) -> None:
    """All of a small machine is seen at once."""
    machine(folder)
    done = otf("run", "machine.py", "--until", "nothing-new=0.2s", "--steps", 1, "--keep", "failures", "--json").data
    assert done["verdict"] == "pass"
    assert done["coverage"]["met"]["states"]


def test_a_campaign_ends_when_a_path_has_lasted_so_long(folder: Path) -> None:
    """One path has no bound of inputs; a bound that is given holds, and then there are more paths."""
    machine(folder)
    done = otf("run", "machine.py", "--until", "uptime=0.2s", "--json").data
    assert (done["verdict"], done["paths"]) == ("pass", 1)
    assert done["seconds"] >= 0.2
    done = otf("run", "machine.py", "--until", "uptime=1h", "--steps", 5, "--traces", 3, "--json").data
    assert (done["verdict"], done["paths"], done["steps"]) == ("pass", 3, 15)


@pytest.mark.parametrize("jobs", [1, 3])
def test_paths_at_a_time(folder: Path, jobs: int) -> None:
    """With --jobs paths run at once; all of them run."""
    machine(folder)
    assert otf("run", "machine.py", "--traces", 5, "--jobs", jobs, "--json").data["paths"] == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--strategy", "randum"), "there is no strategy 'randum'; did you mean random?"),
        (("--mode", "lazy"), "--mode lazy: choose one of strict, eager"),
        (("--keep", "some"), "--keep some: choose one of all, failures"),
        (("--until", "stats"), "--until stats: did you mean states? write one of states, transitions"),
        (("--until", "states=0"), "--until states=0: write one of states"),
        (("--time", 0), "--time 0: a time above 0 is needed, in seconds, minutes or hours: 60s, 10m, 8h"),
        (("--time", "1 day"), "--time 1 day: a time above 0 is needed"),
        (("--time", "nan"), "--time nan: a time above 0 is needed"),
        (("--until", "nothing-new"), "--until nothing-new: a time above 0 is needed"),
        (("--until", "uptime"), "--until uptime: a time above 0 is needed"),
        (
            ("--until", "uptime=1h", "--processes", 2),
            "--until uptime=1h: one path lasts so long, and it runs in one process",
        ),
        (("--quiescence", -1), "--quiescence -1: a time is a number of seconds, from 0 to 86400"),
    ],
)
def test_an_option_that_means_nothing(folder: Path, options: tuple[object, ...], message: str) -> None:
    """The error for an impossible value lists the possible ones."""
    machine(folder)
    assert message in failed("run", "machine.py", *options)


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_folder_that_cannot_be_written(folder: Path, as_json: tuple[str, ...]) -> None:
    """A folder below a file is told with its name and what to do, and nothing is run."""
    machine(folder)
    (folder / "file").touch()
    done = otf("run", "machine.py", "--out", "file/below", *as_json)
    message = "file/below: the folder cannot be written (Not a directory); choose another with --out"
    assert (done.status, done.err) == (2, f"otf: {message}\n")
    if as_json:
        assert (done.data["verdict"], done.data["error"]) == ("error", message)


def test_the_usual_folder_cannot_be_written(folder: Path) -> None:
    """Where otf-runs is a file, the message is the same."""
    machine(folder)
    (folder / "otf-runs").touch()
    assert "the folder cannot be written (Not a directory)" in failed("run", "machine.py")


def test_a_model_that_enables_no_input(folder: Path) -> None:
    """A run in which nothing was sent decides nothing, and says why."""
    machine(folder, {"inputs=[Coin(5), Coin(10), Button()]": "inputs=lambda paid: []"})
    done = otf("run", "machine.py")
    assert done.status == 3
    assert "INCONCLUSIVE: nothing was tested" in done.out
    assert "note: nothing was sent: the model enables no input in its initial state" in done.out
    kept = next(Path("otf-runs").glob("machine-*"))
    assert "INCONCLUSIVE: nothing was tested" in otf("report", str(kept), "--bench", "machine.py").out


def test_a_model_without_inputs_is_refused(folder: Path) -> None:
    """An empty list is a mistake of the model, and no inconclusive run."""
    machine(folder, {"inputs=[Coin(5), Coin(10), Button()]": "inputs=[]"})
    said = failed("run", "machine.py")
    assert "has no inputs (inputs=[]) and no emits, so there is nothing to test; write Spec(" in said
    assert 'machine.py", line' in said


def test_a_model_whose_first_output_is_never_waited_for(folder: Path) -> None:
    """Spontaneous outputs alone make no pass where the model has inputs: the note says what to do."""
    text = """
from otf import Bench, Spec, goto

spec = Spec(
    lambda state, inp: [goto(state)] if state == "up" else [],
    "boot",
    ["go"],
    lambda state: [goto("up", "hello")] if state == "boot" else [],
)
bench = Bench.in_process(spec, lambda: lambda inp: [])
"""
    (folder / "boots.py").write_text(text, encoding="utf-8")
    done = otf("run", "boots.py", "--traces", "1")
    assert done.status == 3
    assert "otf waits for an output that has to come first if its transition has a window (within=)" in done.out


@pytest.mark.real
def test_a_system_that_ends_before_the_first_input_was_tested(folder: Path) -> None:
    """Its failure is the result; the model has inputs that were not sent."""
    ends = "process(\"sh -c 'echo ready; exit 7'\")"
    machine(folder, {"import inprocess": "import inprocess, process", "inprocess(lambda: machine(broken))": ends})
    done = otf("run", "machine.py", "--traces", "1", "--no-shrink")
    assert done.status == 1
    assert "nothing was tested" not in done.out


def test_inputs_that_are_never_drawn_are_named(folder: Path) -> None:
    """Of an iterable that is not a sequence the first 10,000 inputs are tried, and the run says so."""
    many = "inputs=lambda _state: (Button() for _ in range(10_001))"
    machine(folder, {"inputs=[Coin(5), Coin(10), Button()]": many})
    done = otf("run", "machine.py", "--traces", "1", "--steps", "2")
    assert "note: only the first 10,000 inputs of a state were tried; from a list, all are drawn" in done.out


def test_a_path_that_ends_where_the_model_ends(folder: Path) -> None:
    """Paths that the model does not follow to their end are counted, and pass."""
    machine(folder)
    done = otf("run", "machine.py", "--inputs", "any", "--seed", 1, "--json")
    assert done.data["verdict"] == "pass"
    assert done.data["truncated"] == 0


def test_a_parameter_that_is_no_text(folder: Path) -> None:
    """Bytes of a command line that are not UTF-8 are kept in the trace as well as it can hold them."""
    machine(folder)
    done = otf("run", "machine.py:make", "--set", "maker=\udcff", "--traces", 1, "--out", "out", "--json")
    assert done.status == 0
    assert recorded(folder / "out" / "path-0001.jsonl")[0]["parameters"]["maker"] == "?"


def test_a_parameter_of_a_type_of_its_own(folder: Path) -> None:
    """A parameter that JSON does not know stands in the trace as a text, from which it is made again."""
    edits = {
        "maker: str": "till: Path = Path('.'), maker: str",
        "from dataclasses": "from pathlib import Path\nfrom dataclasses",
    }
    machine(folder, edits)
    assert otf("run", "machine.py:make", "--set", "till=shop", "--traces", 1, "--out", "out").status == 0
    assert recorded(folder / "out" / "path-0001.jsonl")[0]["parameters"]["till"] == "shop"
    assert otf("replay", "out/path-0001.jsonl", "--bench", "machine.py:make", "--set", "till=shop").status == 0


def test_failures_of_earlier_runs_are_tried_first(folder: Path) -> None:
    """The next run of the same bench tells which of them are still there, and which are fixed."""
    machine(folder, {"None if broken": "None if paid == 20 or broken"})
    otf("run", *BROKEN, "--seed", 1, "--traces", 2)
    again = otf("run", *BROKEN, "--seed", 2, "--traces", 1, "--steps", 1)
    assert again.status == 1
    still = "from an earlier run, still there: missing: Button() -> expected Coffee(), seen nothing ("
    assert again.out.index("FAIL: 1 kind") < again.out.index(still)
    assert "failed as before, after 2 steps" in again.out
    machine(folder)
    fixed = otf("run", "machine.py:make", "--set", "broken=true", "--traces", 1, "--no-saved", "--json").data
    assert fixed["saved"] == []
    mended = (folder / "machine.py").read_text(encoding="utf-8").replace("None if broken", "None if False")
    (folder / "machine.py").write_text(mended, encoding="utf-8")
    data = otf("run", *BROKEN, "--traces", 1, "--json").data
    assert (data["verdict"], [each["came"] for each in data["saved"]]) == ("pass", ["fixed"])


@pytest.mark.real
def test_failures_are_kept_by_where_the_system_is(folder: Path) -> None:
    """With --sut the system is another one."""
    machine(folder)
    otf("run", *BROKEN, "--seed", 1, "--traces", 1)
    elsewhere = otf("run", *BROKEN, "--traces", 1, "--steps", 1, "--sut", "slot=exec:cat", "--json").data
    assert elsewhere["saved"] == []
    assert len(otf("run", *BROKEN, "--traces", 1, "--steps", 1, "--json").data["saved"]) == 1


def test_how_failures_are_shrunk(folder: Path) -> None:
    """The budget can be chosen, and what it left is marked as not minimal."""
    machine(folder)
    done = otf("run", *BROKEN, "--traces", 1, "--budget", 1, "--seed", 2, "--json")
    (failure,) = done.data["failures"]
    assert failure["shrunk"].keys() == {"trace", "steps", "rate", "minimal", "ended"}
    assert not failure["shrunk"]["minimal"]


def test_a_setting_has_one_default() -> None:
    """An option that is a setting as it is has the default of the setting."""
    settings = {each.name: each.default for each in fields(Settings)}
    options = {each.name: each.default for each in fields(RunOptions)}
    assert {name: options[name] for name in SAME} == {name: settings[name] for name in SAME}
