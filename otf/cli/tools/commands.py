"""The commands of the tools, as help shows them: the options of each. `app` names the modules that do the work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from otf.cli.options import AsJson, FromBench, Sets, SystemOptions, argument, flag, option
from otf.cli.tools.starters import FRAMINGS, KINDS


@dataclass(frozen=True, kw_only=True)
class NewCommand:
    """Write a commented bench for your own system. It runs at once: against a simulated system, or the recorded one."""

    name: Annotated[str, argument("[NAME]", "The name of the system; the file is NAME.py.", show_default=False)] = ""
    kind: Annotated[str, option("KIND", f"How otf connects to it: {', '.join(KINDS)}.")] = "tcp"
    framing: Annotated[str, option("FRAMING", f"What one message of a stream is: {', '.join(FRAMINGS)}.")] = "lines"
    source: Annotated[
        str,
        option(
            "FILE",
            "Draft it from a capture, or from a log with `> sent` and `< received` lines.",
            "--from",
            show_default=False,
        ),
    ] = ""
    url: Annotated[str, option("URL", "With --from: the address of the system.", show_default=False)] = ""
    examples: ClassVar[str] = """\b
Examples:
  otf new                          asks what your system is
  otf new lamp                     a bench in lamp.py, for a system by TCP
  otf new lamp --kind serial       the same for a serial port
  otf new meter --from meter.pcap  a draft of the system that was captured
  otf new lamp --from lamp.log --url /dev/ttyUSB0
"""


@dataclass(frozen=True, kw_only=True)
class ReportCommand:
    """Write one HTML file about a campaign: verdicts, failures with charts, coverage, and inputs that were not tried.

    All traces of the folder are judged again. The page needs no network and opens from disk. The exit status is 0
    whatever the verdict: `otf run` and `otf replay` judge.
    """

    folder: Annotated[Path, argument("DIR", "The folder of a campaign; `otf run` prints it.")]
    bench: FromBench = None
    sets: Sets = None
    out: Annotated[Path | None, option("FILE", "The page; default: report.html in the folder.")] = None
    junit_xml: Annotated[
        Path | None,
        option("FILE", "Write JUnit XML as well: a test case for the bench and for each failure.", "--junit"),
    ] = None
    markdown_file: Annotated[Path | None, option("FILE", "Write a summary in Markdown as well.", "--markdown")] = None
    requirements: Annotated[
        Path | None,
        option(
            "FILE", "Write the status of each requirement as well: .csv, .json (sphinx-needs) or .sdoc (StrictDoc)."
        ),
    ] = None
    github: Annotated[
        bool, flag("--github", "Print annotations for GitHub Actions, and add a summary to that of the step.")
    ] = False
    opens: Annotated[bool, flag("--open", "Open the page in a browser.")] = False
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf report DIR                       write DIR/report.html
  otf report DIR --junit x.xml         write JUnit XML as well
  otf report DIR --github              annotations and a summary for GitHub
"""


@dataclass(frozen=True, kw_only=True)
class CompareCommand:
    """Show the first event at which two traces part, the states there, and what else differs: versions, parameters.

    Of two campaigns also their figures, their response times, and the kinds of failure that only one has. The first
    paths of the same number that part are compared. Both are judged again. Of two models, which are benches, folders of
    `otf learn`, or files (.dot, .aut), every kind of difference in their answers, with a shortest sequence of inputs;
    if both are benches, it is sent to both systems.
    """

    a: Annotated[str, argument("A", "A trace, a folder of a campaign, or a model (a bench, a file).")]
    b: Annotated[str, argument("B", "Another one.")]
    bench: FromBench = None
    sets: Sets = None
    page: Annotated[Path | None, option("FILE", "Write a page with both side by side.")] = None
    exit_code: Annotated[bool, flag("--exit-code", "End with status 1 if they differ; without it the status is 0.")] = (
        False
    )
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf compare a.jsonl a.shrunk.jsonl        before and after shrinking
  otf compare old/ new/                     two campaigns, of two versions
  otf compare a.jsonl b.jsonl --page c.html a page with both side by side
  otf compare old/ new/ --exit-code         two folders of `otf learn`, in CI
  otf compare learned.py coffee             a learnt model with another one
"""


@dataclass(frozen=True, kw_only=True)
class LearnCommand:
    """Learn a model from the running system, by asking it; needs AALpy: pip install 'otf[learn]'.

    Each question is a path after a reset: inputs, each followed by outputs until the system rests. The folder gets a
    trace of each, and learned.dot, learned.py (a bench which the system passes), and learned.html to walk on. The exit
    status is 1 if the system violates a property, 3 if the time was over, or if the system chooses between answers.
    """

    bench: Annotated[str | None, argument("[BENCH]", "The bench of the system; its model is not asked.")] = None
    alphabet: Annotated[
        Path | None,
        option(
            "FILE",
            "The inputs, one a line: of a bench as otf shows them, else the text of each message (\\r, \\n and "
            "\\xHH are characters); or what was sent in a trace, a folder of traces, a capture (.pcap), or a log with "
            "`> sent` and `< received` lines.",
        ),
    ] = None
    only: Annotated[str, option("REGEX", "Only inputs that match this, as otf shows them.", show_default=False)] = ""
    mask: Annotated[
        str,
        option(
            "REGEX",
            "Outputs that match this differ in no number and in no field, such as those that count.",
            show_default=False,
        ),
    ] = ""
    wait: Annotated[
        float | None,
        option(
            "SECONDS", "Waiting so long is an input too; what the system does by itself meanwhile is learnt as timers."
        ),
    ] = None
    properties: Annotated[
        list[str] | None,
        option(
            "PLACE",
            "A temporal property, such as lamp.py:safe, to check on the result beside those of the bench; a run "
            "that violates it is tried on the system. Repeatable.",
            "--property",
        ),
    ] = None
    algorithm: Annotated[str, option("NAME", "One of kv, lsharp, lstar.")] = "kv"
    extra: Annotated[
        int, option("NUMBER", "Suites up to this many states more than were found have to pass.", min=0)
    ] = 1
    time: Annotated[str | None, option("TIME", "End after this time (90, 5m), with what is known by then.")] = None
    seed: Annotated[int, option("NUMBER", "The seed of the order of tests and of walks.")] = 0
    jobs: Annotated[int, option("NUMBER", "How many copies of the system are asked at the same time.", min=1)] = 1
    out: Annotated[Path | None, option("DIR", "The folder for traces and results; one that is there goes on.")] = None
    opens: Annotated[bool, flag("--open", "Open the page with the picture in a browser.")] = False
    framing: Annotated[
        str,
        option(
            "FRAMING",
            "Without a bench: what one message is: lines, crlf, length, slip, cobs, silence; default: as in the "
            "capture, else lines with the end that is answered.",
            show_default=False,
        ),
    ] = ""
    start: Annotated[
        str, option("COMMAND", "Without a bench: starts the system afresh before each path.", show_default=False)
    ] = ""
    reset: Annotated[
        list[str] | None, option("MESSAGE", "Without a bench: sent before each path, to reset the system; repeatable.")
    ] = None
    register: Annotated[
        list[str] | None,
        option(
            "NAME=REGEX",
            "Without a bench: what is in ( ) of an answer is sent where {NAME} is in a message; repeatable.",
        ),
    ] = None
    system: SystemOptions
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf learn coffee                     the inputs are those of the bench
  otf learn irc --only 'JOIN|PART'     some of them
  otf learn --sut tcp://127.0.0.1:6667 --alphabet messages.txt --open
  otf learn coffee --out runs/coffee   again with this folder: it goes on
"""
