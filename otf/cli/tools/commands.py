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

    For two campaigns, it judges both again. It compares their figures, their response times, the kinds of failure that
    only one of them has, and the first two paths with the same number that part.

    For two models, it lists every kind of difference in their answers, each with a shortest sequence of inputs. A model
    is a bench, a folder of `otf learn`, or a file (.dot, .aut). If both are benches, it sends these inputs to both
    systems.
    """

    a: Annotated[str, argument("A", "A trace, a folder of a campaign, or a model (a bench, a file).")]
    b: Annotated[str, argument("B", "The trace, campaign or model to compare A with.")]
    bench: FromBench = None
    sets: Sets = None
    page: Annotated[Path | None, option("FILE", "Write a page with both side by side.")] = None
    exit_code: Annotated[bool, flag("--exit-code", "End with status 1 if they differ; without this, with 0.")] = False
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf compare a.jsonl a.shrunk.jsonl        before and after shrinking
  otf compare old/ new/                     two campaigns, of two versions
  otf compare a.jsonl b.jsonl --page c.html a page with both side by side
  otf compare old/ new/ --exit-code         in CI: status 1 if they differ
  otf compare learned.py coffee             a learnt model with another one
"""


@dataclass(frozen=True, kw_only=True)
class LearnCommand:
    """Learn a model from the running system, by asking it; needs AALpy: pip install 'otf[learn]'.

    Each question is a path after a reset: otf sends inputs, and waits after each one until the system rests. The folder
    gets a trace of each path, and three results: learned.dot, learned.py (a bench that the system passes), and
    learned.html (a page on which you walk through the model). The exit status is 1 if the system violates a property,
    and 3 if time ran out or the system chooses between answers.
    """

    bench: Annotated[str | None, argument("[BENCH]", "The bench of the system; learning ignores its model.")] = None
    alphabet: Annotated[
        Path | None,
        option(
            "FILE",
            "The inputs, one a line: with a bench as otf shows them, without one the text of each message (\\r, \\n "
            "and \\xHH are characters). Or a recording, whose inputs are sent: a trace, a folder of traces, a capture "
            "(.pcap), or a log with `> sent` and `< received` lines.",
        ),
    ] = None
    only: Annotated[str, option("REGEX", "Only inputs that match this, as otf shows them.", show_default=False)] = ""
    mask: Annotated[
        str,
        option(
            "REGEX",
            "Ignore all numbers and fields in outputs that match this, such as a counter.",
            show_default=False,
        ),
    ] = ""
    wait: Annotated[
        float | None,
        option(
            "SECONDS",
            "Treat a wait of this length as an input, and learn what the system then does by itself as timers.",
            min=0.001,
            max=3600,
        ),
    ] = None
    properties: Annotated[
        list[str] | None,
        option(
            "PLACE",
            "A temporal property, such as lamp.py:safe, that the learnt model must have, like those of the bench. If a "
            "run violates it, otf tries that run on the system. Repeatable.",
            "--property",
        ),
    ] = None
    algorithm: Annotated[str, option("NAME", "One of kv, lsharp, lstar.")] = "kv"
    extra: Annotated[
        int,
        option("NUMBER", "Let the system pass suites that cover this many more states than were found.", min=0),
    ] = 1
    time: Annotated[str | None, option("TIME", "Stop after this time (90, 5m), and report what is known by then.")] = (
        None
    )
    seed: Annotated[int, option("NUMBER", "The seed for the order of tests, and for walks.")] = 0
    jobs: Annotated[int, option("NUMBER", "How many copies of the system are asked at the same time.", min=1)] = 1
    out: Annotated[
        Path | None, option("DIR", "The folder for traces and results; if it exists, learning continues there.")
    ] = None
    opens: Annotated[bool, flag("--open", "Open the page with the picture in a browser.")] = False
    framing: Annotated[
        str,
        option(
            "FRAMING",
            "Without a bench: what one message is: lines, crlf, length, slip, cobs, silence; default: as in the "
            "capture; without a capture, lines with the line end that gets an answer.",
            show_default=False,
        ),
    ] = ""
    start: Annotated[
        str,
        option(
            "COMMAND",
            "Without a bench: the command that starts the system afresh before each path.",
            show_default=False,
        ),
    ] = ""
    reset: Annotated[
        list[str] | None,
        option("MESSAGE", "Without a bench: a message that resets the system, sent before each path; repeatable."),
    ] = None
    register: Annotated[
        list[str] | None,
        option(
            "NAME=REGEX",
            "Without a bench: take what matches in ( ) from an answer, and send it where a message has {NAME}; "
            "repeatable.",
        ),
    ] = None
    system: SystemOptions
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf learn coffee                     the inputs are those of the bench
  otf learn irc --only 'JOIN|PART'     some of them
  otf learn --sut tcp://127.0.0.1:6667 --alphabet messages.txt --open
  otf learn coffee --out runs/coffee   continues with what this folder has
"""
