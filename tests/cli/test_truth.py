"""What is claimed of a campaign is so in every output: the terminal, the page, JUnit XML, annotations, Markdown, JSON.

Each campaign here is one of which an output once claimed something false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from tests.cli.command import Result, otf

pytestmark = pytest.mark.real  # campaigns are driven, on systems in this process

BENCHES = '''"""Systems in this process: a spec with a single input, and outputs that chance picks."""

from dataclasses import dataclass, replace
from itertools import count
from random import Random

from otf import Bench, Spec, goto, lines
from otf.adapter import KnownIssue, Limits
from otf.adapters import inprocess


@dataclass(frozen=True)
class Go: ...


@dataclass(frozen=True)
class Ok: ...


@dataclass(frozen=True)
class Wrong0: ...


WRONG = [Wrong0, *(dataclass(frozen=True)(type(f"Wrong{n}", (), {"__module__": __name__})) for n in range(1, 8))]
globals().update({each.__name__: each for each in WRONG})
codec = lines({Go: "go", Ok: "ok", **{each: each.__name__ for each in WRONG}})
TIMES = {"quiescence": 0.0, "latency": 0.0, "busy": 0.0}


def chancy(rate: float = 0.1, kinds: int = 8):
    """With this probability an answer is wrong, in one of so many ways."""
    starts = count()

    def system():
        random = Random(next(starts))
        return lambda _: WRONG[random.randrange(kinds)].__name__.encode() if random.random() < rate else b"ok"

    spec = Spec(lambda state, inp: [goto(0, Ok())], 0, [Go()])
    return Bench(spec, ports={"p": inprocess(system)}, codec=codec, **TIMES)


def known(rate: float = 0.5, kinds: int = 1):
    """The wrong answer is a known issue."""
    issue = KnownIssue(lambda failure: "Wrong0" in failure.seen, "it answers wrongly")
    return replace(chancy(rate, kinds), known_issues=(issue,))


def vague():
    """The states that are possible outgrow their limit in the second step: every path is inconclusive."""
    spec = Spec(lambda state, inp: [goto(3 * state + n, Ok()) for n in range(3)], 1, [Go()])
    return replace(Bench(spec, ports={"p": inprocess(lambda: lambda _: b"ok")}, codec=codec, **TIMES),
                   limits=Limits(hypotheses=1))
'''


class Outputs(NamedTuple):
    """All that is printed and written about one campaign."""

    run: Result
    report: Result
    page: str
    junit: ET.Element
    github: str

    def texts(self) -> Iterator[str]:
        """Return each output as text."""
        return iter((self.run.out, self.report.out, self.page, ET.tostring(self.junit, "unicode"), self.github))


def outputs(folder: Path, name: str, *options: object) -> Outputs:
    """Drive a campaign, and report it in all ways."""
    (folder / "benches.py").write_text(BENCHES, encoding="utf-8")
    bench = f"benches.py:{name}"
    run = otf("run", bench, "--seed", 1, "--no-saved", "--out", "out", *options)
    sets = [each for each in options if str(each).startswith(("rate=", "kinds="))]
    judged = ("report", "out", "--bench", bench, *(part for each in sets for part in ("--set", each)))
    report = otf(*judged, "--junit", "junit.xml")
    return Outputs(
        run,
        report,
        unescape((folder / "out" / "report.html").read_text(encoding="utf-8")),
        ET.parse("junit.xml").getroot(),  # noqa: S314 -- it is our own
        otf(*judged, "--github").out,
    )


ALLOWED = re.compile("every answer (is|was) one that the model allows")


def test_an_inconclusive_campaign_claims_nothing(folder: Path) -> None:
    """No output says that the answers were allowed; each says how many paths were inconclusive, and why."""
    made = outputs(folder, "vague", "--traces", 2)
    assert "INCONCLUSIVE: neither passed nor failed (2 paths, " in made.run.out
    for text in made.texts():
        assert not ALLOWED.search(text)
        assert "paths: 2 inconclusive" in text
        assert "more than 5 explanations left" in text
    assert made.report.out.startswith("INCONCLUSIVE: neither passed nor failed (2 paths, ")


def test_a_campaign_of_known_issues_is_called_so(folder: Path) -> None:
    """No output says that the answers were allowed; each names the known issue and how many paths showed it."""
    made = outputs(folder, "known", "--traces", 2)
    assert made.report.out.startswith("PASS, 1 known issue: no other failure (2 paths, ")
    for text in made.texts():
        assert not ALLOWED.search(text)
        assert "paths: 2 showed a known issue" in text
        assert "it answers wrongly" in text


def test_the_four_lists_have_their_counts_everywhere(folder: Path) -> None:
    """Failures, known issues, inconclusive paths and passes are counted alike in every output."""
    sets = ("--set", "rate=0.1", "--set", "kinds=3")
    made = outputs(folder, "known", *sets, "--traces", 12, "--steps", 5, "--no-shrink")
    (tally,) = re.findall(r"^paths: .*$", made.run.out, re.MULTILINE)
    assert sum(map(int, re.findall(r"\d+", tally))) == 12
    assert "failed" in tally
    for text in made.texts():
        assert tally in text


def steps(text: str) -> str:
    """Return the totals that an output shows."""
    found = re.search(r"\d+ paths?, [\d,]+ steps?", text)
    return found[0] if found else "none"


@pytest.mark.parametrize("more", [(), ("--jobs", 3), ("--keep", "failures"), ("--mode", "strict")])
def test_the_totals_of_a_report_are_those_of_the_campaign(folder: Path, more: tuple[object, ...]) -> None:
    """Runs that confirm a failure count nowhere, and paths whose traces were not kept count in all."""
    made = outputs(folder, "chancy", "--traces", 14, "--steps", 5, "--no-shrink", *more)
    for text in (made.report.out, made.github):
        assert steps(text) == steps(made.run.out)
    kinds = re.findall(r"\d+ kinds? of failure", made.run.out)[0]
    assert all(kinds in text for text in made.texts())


def test_an_explanation_is_under_its_own_heading(folder: Path) -> None:
    """On a system that depends on chance, shrinking meets other failures: none is shown as the one that was shrunk."""
    made = outputs(folder, "chancy", "--traces", 14, "--steps", 12, "--budget", 60)
    lines = [line for line in made.github.splitlines() if line.startswith("::error")]
    assert len(lines) > 1
    for line in lines:
        (heading,) = re.findall(r"seen (Wrong\d)", line.split("::")[1])
        assert f"  seen:            {heading}()" in line
    shown = list(made.junit.iter("failure"))
    assert len(shown) == len(lines)
    for failure in shown:
        (heading,) = re.findall(r"seen (Wrong\d)", failure.get("message") or "")
        assert f"  seen:            {heading}()" in (failure.text or "")
    for heading, text in re.findall(r"<code>[^<]*seen (Wrong\d)\(\)</code>.*?<pre>(.*?)</pre>", made.page, re.DOTALL):
        assert f"  seen:            {heading}()" in text


def test_shrinking_another_failure_needs_the_same_bench(folder: Path) -> None:
    """The command that `otf shrink` prints for a failure found on the way can be copied: it has the given bench."""
    outputs(folder, "chancy", "--traces", 2, "--steps", 12, "--no-shrink")
    given = ("--bench", "benches.py:chancy", "--set", "rate=0.2")
    said = otf("shrink", "out/path-0002.jsonl", *given, "--budget", 60).out
    found = re.findall(r"another failure was found on the way: .*\n  shrink it: +otf shrink \S+ (.*)\n", said)
    assert set(found) == {"--bench benches.py:chancy --set rate=0.2"}


def test_a_failure_that_only_a_saved_trace_shows_is_in_the_report(folder: Path) -> None:
    """The campaign failed, though no path did: so says the report, with the trace of the saved failure."""
    (folder / "benches.py").write_text(BENCHES, encoding="utf-8")
    call = ("run", "benches.py:chancy", "--set", "rate=1.0", "--set", "kinds=1", "--seed", 1, "--traces", 1)
    otf(*call, "--out", "first")
    run = otf(*call, "--stop-first", "--out", "out")
    assert "failed as before, after 1 step" in run.out
    judged = ("report", "out", "--bench", "benches.py:chancy", "--set", "rate=1.0", "--set", "kinds=1")
    report = otf(*judged, "--json").data
    assert (report["verdict"], report["paths"], report["failures"][0]["count"]) == ("fail", 0, 0)
    assert steps(otf(*judged).out) == steps(run.out) == "0 paths, 0 steps"


def test_a_campaign_without_contact_has_no_verdict_in_its_report(folder: Path) -> None:
    """A path that never began does not count, and a campaign of no paths did not pass."""
    (folder / "benches.py").write_text(
        BENCHES + "\n\ndef gone():\n    from otf.adapters import process\n"
        "    return replace(chancy(), ports={'p': process('no-such-program-xyz')}, retries=0)\n",
        encoding="utf-8",
    )
    run = otf("run", "benches.py:gone", "--seed", 1, "--no-saved", "--out", "out")
    report = otf("report", "out", "--bench", "benches.py:gone")
    headline = "INCONCLUSIVE: no contact with the system under test (0 paths, 0 steps, "
    assert headline in run.out
    assert report.out.startswith(headline)
    assert "stopped: " in report.out
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "path-0001.jsonl does not count" in page
    assert not ALLOWED.search(page)


DEAF = """
from otf import Bench, Spec, goto
spec = Spec(lambda state, _inp: [goto(state, "ok"), goto(state)], 0, ["a"])
def bench(answers: bool = False):
    return Bench(spec, system=lambda: lambda _: ["ok"] * answers, types=(str,))
"""


def test_a_pass_without_any_output_says_so(folder: Path) -> None:
    """A model that allows silence passes a system that is not there: no output claims that answers were allowed."""
    (folder / "deaf.py").write_text(DEAF, encoding="utf-8")
    for more in (("--out", "out"), ("--into", "out", "--traces", 4), ("--out", "two", "--processes", 2)):
        done = otf("run", "deaf.py", "--seed", 1, "--traces", 2, "--steps", 5, "--no-saved", *more)
        assert (done.status, "PASS: no output was seen, which the model allows" in done.out) == (0, True), done.out
    assert "PASS: no output was seen" in otf("report", "out", "--bench", "deaf.py", "--junit", "junit.xml").out
    heard = otf("run", "deaf.py", "--seed", 1, "--set", "answers=true", "--no-saved", "--traces", 2, "--steps", 5)
    assert heard.out.startswith("PASS: every answer is one that the model allows")
