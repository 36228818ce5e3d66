"""The pytest plugin: a bench is a test in one line, and its failure is explained completely."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.plugin.session import Session

ROOT = Path(__file__).parents[2]
FREE = """
def test_free(otf_run):
    otf_run(coffee.bench, fault="free", traces=3)
"""
PRINTED = "    print(done.paths, done.steps)\n"
SHRUNK = """\
     1  Coin(cents=10)  ->  none
     2  Button()        ->  Coffee()
     3  Button()        ->  Coffee()   <== here
"""


def test_a_bench_is_a_test_in_one_line(session: Session) -> None:
    """It needs the name of a test; other names are not collected."""
    session.tests(
        "test_right = coffee.bench()\ntest_wrong = coffee.bench(fault='free')\nother = test_right\ntest_n = 1"
    )
    done = session.run("--otf-seed=1")
    assert (done.status, done.counts["passed"], done.counts["failed"]) == (1, 1, 1)
    assert "___ test_wrong ___" in done.out
    assert SHRUNK in done.out
    assert "Traceback" not in done.out


def test_a_failure_is_the_shrunk_trace(session: Session) -> None:
    """The message has the steps, the possible states, and how to repeat the run; no frames of the plugin."""
    done = session.of(FREE, "--otf-seed=1", "--otf-out=kept")
    for said in (
        "FAIL (unasked): Button() -> expected no output, seen Coffee()",
        "an output came where the model allows none",
        "Button()        ->  Coffee()   <== here",
        "possible state: 0",
        "allows:        no output",
        "seen:            Coffee()  (on line)",
        "the same inputs: pytest test_machine.py::test_free --otf-seed 1",
    ):
        assert said in done.message
    trace = re.search(r"trace: (\S+)", done.out)
    assert trace is not None
    assert (session.folder / trace[1]).is_file()
    assert "pytest_plugin" not in done.out.replace("otf.pytest_plugin", "")


POINT = "Coffee() after Button(): an output came where the model allows none (step 3)"


def test_the_summary_has_one_line_for_a_failure(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins with what was seen, also where a server runs the tests, for which pytest does not cut what is long."""
    monkeypatch.setenv("CI", "true")
    text = "\nfrom otf import run\ndef test_call():\n    run(coffee.bench(fault='free'), seed=1, traces=1)\n"
    done = session.of(f"{FREE}{text}test_bench = coffee.bench(fault='free')\n", "--otf-seed=1", "--otf-traces=1")
    summary = done.out.partition("short test summary info")[2].splitlines()[1:]
    assert summary[:3] == [f"FAILED test_machine.py::test_{name} - {POINT}" for name in ("free", "call", "bench")]
    assert summary[3].startswith("3 failed")
    assert "\ntest_machine.py:12: NonconformanceError\n" in done.out


def test_a_call_in_a_plain_test(session: Session) -> None:
    """The line of the user is shown, no frames of otf or of the event loop, and the command that runs it again."""
    text = "from otf import Bench, run\nfrom otf.adapters import process\n"
    text += "def test_call():\n    run(coffee.bench(fault='free'), seed=1, traces=1)\n\n"
    text += "def test_none():\n    lost = {'line': process('no-such-program-xyz')}\n"
    text += "    run(Bench(coffee.coffee, codec=coffee.codec, ports=lost))\n"
    done = session.of(text)
    assert done.counts == {"failed": 2}
    assert ">       run(coffee.bench(fault='free'), seed=1, traces=1)\n" in done.out
    assert ">       run(Bench(coffee.coffee, codec=coffee.codec, ports=lost))\n" in done.out
    assert "the same inputs: pytest test_machine.py::test_call\n" in done.out
    assert "\ntest_machine.py:8: NonconformanceError\n" in done.out
    assert "campaign/run.py" not in done.out
    assert "anyio" not in done.out


def test_a_bench_has_a_line(session: Session) -> None:
    """It can be jumped to: its failure names the line on which it is assigned."""
    session.tests("\n\ntest_wrong = coffee.bench(fault='free')\n")
    junit = ("--junit-xml=junit.xml", "-o", "junit_family=xunit1")
    done = session.run("--otf-seed=1", "--otf-traces=1", "--tb=line", *junit)
    assert f"\ntest_machine.py:7: {POINT}\n" in done.out
    (case,) = ET.parse(session.folder / "junit.xml").iter("testcase")  # noqa: S314 -- it is our own
    assert (case.get("file"), case.get("line")) == ("test_machine.py", "6")
    assert case[1].get("message") == POINT


def test_a_bench_that_nothing_assigns_has_no_line(session: Session) -> None:
    """A loop may have made it; it is a test all the same."""
    done = session.of("globals()['test_made'] = coffee.bench(fault='free')\n", "--otf-seed=1", "--otf-traces=1")
    assert done.counts == {"failed": 1}
    assert f"test_made - {POINT}" in done.out


MARKED = """
@pytest.mark.otf(steps=4, traces=3)
def test_marked(otf_run):
    done = otf_run(coffee.bench, traces=2)
    print(done.paths, done.steps)

test_bench = coffee.bench()

def test_by_hand(otf_open):
    otf_open(coffee.bench)

def test_other():
    pass
"""


def test_the_marker_is_registered(session: Session) -> None:
    """`-m otf` selects all that drives a system; the marker has settings, which a call and the command line replace."""
    done = session.of(MARKED, "--strict-markers", "-m", "otf", "-s")
    assert done.counts == {"passed": 3, "deselected": 1}
    assert "2 8\n" in done.out
    assert "@pytest.mark.otf(**settings): a test that drives a bench" in session.run("--markers").out
    wrong = session.of("@pytest.mark.otf(stps=4)\ndef test_it(otf_run):\n    otf_run(coffee.bench)\n")
    assert "did you mean steps?" in wrong.out


@pytest.mark.real
def test_the_text_of_a_failure_suffices(session: Session) -> None:
    """Of the conference entity with the fault O7 (a message is sent to one member only) the text alone tells the fault.

    Two members were possible, each had to get the message, one did, and then nothing more came.
    """
    text = "from otf.models.conference import bench\ndef test_entity(otf_run):\n    otf_run(bench, fault='O7')\n"
    done = session.of(text, "--otf-seed=7", "--otf-traces=2", "--otf-steps=60")
    text = re.sub(r"^ +", "", done.message, flags=re.MULTILINE)
    assert "an output that the model requires did not come" in text
    assert re.search(r"input: +Datareq\(text='(m\d)'\)", text)
    assert re.search(r"in any order: DataPDUout\(cpe=2, text='m\d'\), DataPDUout\(cpe=3, text='m\d'\)", text)
    assert re.search(r"^seen first: +DataPDUout\(cpe=[23], text='m\d'\)$", text, re.MULTILINE)
    assert re.search(r"^and then: +nothing more$", text, re.MULTILINE)
    assert len(re.findall(r"^\d+ .* -> ", text, re.MULTILINE)) <= 6


def test_options_come_before_what_a_test_says(session: Session) -> None:
    """A nightly run may drive longer than the test was written for."""
    session.tests("def test_it(otf_run):\n    done = otf_run(coffee.bench, steps=3, traces=2)\n" + PRINTED)
    assert "2 6\n" in session.run("-s").out
    assert "1 9\n" in session.run("-s", "--otf-steps=9", "--otf-traces=1", "--otf-strategy=random").out
    strict = session.run("-s", "--otf-mode=strict", "--otf-time=5", "--otf-out=out")
    assert "2 6\n" in strict.out
    header = json.loads(
        next((session.folder / "out").rglob("path-*.jsonl")).read_text(encoding="utf-8").splitlines()[0]
    )
    assert header["mode"] == "strict"


def test_a_saved_failure_runs_first(session: Session) -> None:
    """It does so until it passes; then the usual campaign runs again."""
    session.tests(FREE)
    first = session.run()
    assert "saved by an earlier run" not in first.out
    again = session.run()
    assert "this failure was saved by an earlier run; it is tried first until it passes" in again.out
    assert len(session.saved) == 1
    assert "saved by an earlier run" not in session.run("--otf-seed=3").out
    assert session.run("-p", "no:cacheprovider").counts == {"failed": 1}


MENDED = """
def machine():
    return coffee.Machine("free" if Path("fault").read_text() else "none").take

from dataclasses import replace
from pathlib import Path
from otf.adapters import inprocess

def test_machine(otf_run):
    otf_run(replace(coffee.bench(), ports={"line": inprocess(machine)}))
"""


def test_a_saved_failure_that_passes_is_forgotten(session: Session) -> None:
    """The system was mended: the test passes, and nothing is left in the cache."""
    session.tests(MENDED)
    (session.folder / "fault").write_text("yes", encoding="utf-8")
    assert session.run().counts == {"failed": 1}
    (session.folder / "fault").write_text("", encoding="utf-8")
    assert session.run().counts == {"passed": 1}
    assert not session.saved


def test_a_saved_failure_that_cannot_be_read_is_forgotten(session: Session) -> None:
    """The model may have changed since then, or the file was cut."""
    session.tests(FREE)
    session.run()
    session.saved[0].write_text("no trace\n", encoding="utf-8")
    done = session.run()
    assert done.counts == {"failed": 1}
    assert "saved by an earlier run" not in done.out


def test_faults_of_two_systems_are_kept_apart(session: Session) -> None:
    """Failures of one bench are not tried on the other, and not forgotten because the other passes."""
    text = "@pytest.mark.parametrize('fault', ['none', 'dry', 'free'])\n"
    session.tests(text + "def test_it(otf_run, fault):\n    otf_run(coffee.bench, fault=fault)\n")
    assert session.run().counts == {"failed": 2, "passed": 1}
    again = session.run()
    assert again.counts == {"failed": 2, "passed": 1}
    assert again.out.count("saved by an earlier run") == 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "otf_run(coffee.bench, stps=3)",
            "stps= is neither a parameter of the bench nor a setting; did you mean steps?",
        ),
        ("otf_run(coffee.bench(), fault='free')", "fault= is neither a parameter of the bench nor a setting"),
        ("otf_run(coffee.bench, fault='fre')", "the machine has no such fault"),
        ("otf_run(coffee.bench, steps=0)", "steps=0: at least 1 is needed"),
        ("otf_run(coffee.bench, strategy='randm')", "did you mean random"),
    ],
)
def test_what_is_wrong_with_a_call_is_told(session: Session, call: str, said: str) -> None:
    """The error lists the possibilities, below the line of the test: no frame of otf is shown for a setting."""
    done = session.of(f"def test_it(otf_run):\n    {call}\n")
    assert done.counts == {"failed": 1}
    assert said in done.out
    assert "/otf/pytest_plugin/" not in done.out
    assert "/otf/campaign/" not in done.out


def test_no_contact_is_no_pass(session: Session) -> None:
    """Where nothing could be decided, the test fails and says why."""
    text = "from otf import Bench\nfrom otf.adapters import process\n"
    text += "test_it = Bench(coffee.coffee, codec=coffee.codec, ports={'line': process('no-such-program-xyz')})\n"
    done = session.of(text)
    assert done.counts == {"failed": 1}
    assert "no-such-program-xyz" in done.out


def test_a_bench_that_is_broken_is_shown_as_any_error(session: Session) -> None:
    """An error that is not a verdict keeps its traceback."""
    text = "from otf import Bench\nclass Odd(Bench):\n    def oracle(self): return 1 / 0\n"
    text += "test_it = Odd(coffee.coffee, codec=coffee.codec)\n"
    done = session.of(text)
    assert done.counts == {"failed": 1}
    assert "ZeroDivisionError" in done.out


def test_the_plugin_brings_nothing_along() -> None:
    """Pytest loads it in every project: no event loop, no decoder and no part of the engine comes with it."""
    code = "import pytest, sys; old = set(sys.modules); import otf.pytest_plugin; print(*(set(sys.modules) - old))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"otf", "otf._exports", "otf.pytest_plugin"}


def test_pytest_finds_it_by_itself() -> None:
    """Installing otf installs the plugin."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"otf": "otf.pytest_plugin"}


def test_numbers_stand_in_the_report_of_pytest(session: Session) -> None:
    """Its JUnit XML has the seed and the steps."""
    session.tests("test_it = coffee.bench()\n")
    session.run("--junitxml=report.xml", "--otf-seed=5", "--otf-traces=2", "--otf-steps=4")
    report = (session.folder / "report.xml").read_text(encoding="utf-8")
    assert '<property name="otf.seed" value="5"' in report
    assert '<property name="otf.steps" value="8"' in report
