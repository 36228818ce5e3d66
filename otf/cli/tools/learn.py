"""`otf learn`: a model from nothing but the running system, as a picture, as Python, and as a page to walk on."""

from __future__ import annotations

import re
import webbrowser
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from otf.cli.options import AsJson, SystemOptions, flag, guarded, option
from otf.cli.output import fresh, warn
from otf.errors import FAIL, INCONCLUSIVE, PASS, UsageError
from otf.trace.result import counted

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.cli.tools.learnt_files import LearningSource
    from otf.learn.checking import CheckedProperty
    from otf.learn.learning import LearntMachine
    from otf.learn.learnt import LearntSystem
    from otf.learn.teaching import Pupil
    from otf.temporal import Formula

MOST: Final = 200  # inputs of an alphabet: each is tried in each state
STATES: Final = 1_000  # of a bench's own model in which its inputs are looked up
EXAMPLES = """\b
Examples:
  otf learn coffee                     the inputs are those of the bench
  otf learn irc --only 'JOIN|PART'     some of them
  otf learn --sut tcp://127.0.0.1:6667 --alphabet messages.txt --open
  otf learn coffee --out runs/coffee   again with this folder: it goes on
"""


@guarded
def learn(
    bench: Annotated[
        str | None, typer.Argument(metavar="[BENCH]", help="The bench of the system; its model is not asked.")
    ] = None,
    alphabet: Annotated[
        Path | None,
        option(
            "FILE",
            "The inputs, one a line: of a bench as otf shows them, else the text of each message (\\r, \\n and "
            "\\xHH are characters); or what was sent in a trace, a folder of traces, a capture (.pcap), or a log with "
            "`> sent` and `< received` lines.",
        ),
    ] = None,
    only: Annotated[str, option("REGEX", "Only inputs that match this, as otf shows them.", show_default=False)] = "",
    mask: Annotated[
        str,
        option(
            "REGEX",
            "Outputs that match this differ in no number and in no field, such as those that count.",
            show_default=False,
        ),
    ] = "",
    wait: Annotated[
        float | None,
        option(
            "SECONDS", "Waiting so long is an input too; what the system does by itself meanwhile is learnt as timers."
        ),
    ] = None,
    properties: Annotated[
        list[str] | None,
        option(
            "PLACE",
            "A temporal property, such as lamp.py:safe, to check on the result beside those of the bench; a run "
            "that violates it is tried on the system. Repeatable.",
            "--property",
        ),
    ] = None,
    algorithm: Annotated[str, option("NAME", "One of kv, lsharp, lstar.")] = "kv",
    extra: Annotated[
        int, option("NUMBER", "Suites up to this many states more than were found have to pass.", min=0)
    ] = 1,
    time: Annotated[str | None, option("TIME", "End after this time (90, 5m), with what is known by then.")] = None,
    seed: Annotated[int, option("NUMBER", "The seed of the order of tests and of walks.")] = 0,
    jobs: Annotated[int, option("NUMBER", "How many copies of the system are asked at the same time.", min=1)] = 1,
    out: Annotated[Path | None, option("DIR", "The folder for traces and results; one that is there goes on.")] = None,
    opens: Annotated[bool, flag("--open", "Open the page with the picture in a browser.")] = False,
    framing: Annotated[
        str,
        option(
            "FRAMING",
            "Without a bench: what one message is: lines, crlf, length, slip, cobs, silence; default: as in the "
            "capture, else lines with the end that is answered.",
            show_default=False,
        ),
    ] = "",
    start: Annotated[
        str, option("COMMAND", "Without a bench: starts the system afresh before each path.", show_default=False)
    ] = "",
    reset: Annotated[
        list[str] | None, option("MESSAGE", "Without a bench: sent before each path, to reset the system; repeatable.")
    ] = None,
    register: Annotated[
        list[str] | None,
        option(
            "NAME=REGEX",
            "Without a bench: what is in ( ) of an answer is sent where {NAME} is in a message; repeatable.",
        ),
    ] = None,
    *,
    system: SystemOptions,
    as_json: AsJson = False,
) -> int:
    """Learn a model from the running system, by asking it; needs AALpy: pip install 'otf[learn]'.

    Each question is a path after a reset: inputs, each followed by outputs until the system rests. The folder gets a
    trace of each, and learned.dot, learned.py (a bench which the system passes), and learned.html to walk on. The exit
    status is 1 if the system violates a property, 3 if the time was over, or if the system chooses between answers.
    """
    from otf.cli.run_options import bounded
    from otf.cli.tools import learn_report, learnt_files
    from otf.cli.tools.laws import formulas
    from otf.spec import Elapse

    _check_patterns(only=only, mask=mask)
    options = (algorithm, extra, bounded(time, None), seed, jobs, mask)
    source = learnt_files.source(bench, system, alphabet, framing, start, reset or (), register or ())
    source = _answering(source, system)
    made = system.watched(source.bench)
    promised = formulas(made.properties, properties or ())
    inputs = [*_inputs(source, alphabet, only), *([] if wait is None else [Elapse(wait)])]
    folder = out or fresh("learn", made.name)
    folder.mkdir(parents=True, exist_ok=True)
    pupil, number = _learn(made, inputs, folder, source, options, quiet=as_json)
    learnt = pupil.learnt
    if learnt is None:
        raise UsageError("nothing was learnt: not even the answers to single inputs are known; give it more --time")
    files = learnt_files.write(folder, learnt, source, learn_report.known(pupil, extra))
    judged = _checked(pupil, learnt, promised)
    learn_report.tell(pupil, learnt, files, judged, extra, as_json=as_json)
    if opens and not webbrowser.open(files[-1].resolve().as_uri()):
        warn(f"no browser could be started: open {files[-1]} yourself")
    return number or _status(judged, complete=pupil.complete)


def _check_patterns(**options: str) -> None:
    for name, text in options.items():
        try:
            re.compile(text)
        except re.error as error:
            raise UsageError(f"--{name} {text}: it is no regular expression: {error}") from error


def _status(judged: Iterable[CheckedProperty], *, complete: bool) -> int:
    confirms = {each.confirms for each in judged}
    return FAIL if True in confirms else PASS if complete and False not in confirms else INCONCLUSIVE


def _checked(pupil: Pupil, learnt: LearntSystem, properties: Mapping[str, Formula]) -> list[CheckedProperty]:
    from otf.adapter.kept import keeping
    from otf.cli.signals import interruptible
    from otf.learn.checking import checked

    async def work() -> list[CheckedProperty]:
        async with keeping():
            return await checked(pupil.driver, learnt, properties)

    return (interruptible(work).value if properties else None) or []


def _answering(source: LearningSource, system: SystemOptions) -> LearningSource:
    """Return a source whose messages end as the system expects it, where the end is a guess: as more are answered."""
    from otf.cli.signals import interruptible
    from otf.cli.tools.learnt_files import of_plain
    from otf.learn.listening import answers_to

    plain = source.plain
    if plain is None or not plain.messages.guessed:
        return source
    other = of_plain(replace(plain, messages=replace(plain.messages, end="\r\n")))
    most, best = 0, source
    for each in (source, other):
        work = partial(answers_to, system.watched(each.bench), plain.messages.texts[:MOST])
        # an input that another one ended is answered half: the more are answered, the better
        answered = sum(map(bool, interruptible(work).value or ()))
        if answered > most:
            most, best = answered, each
    if not most:
        warn("no message is answered, whether it ends with \\n or with \\r\\n; --framing has other ends")
    elif best is other:
        warn("messages end with \\r\\n: so more of them are answered than with \\n")
    return best


def _inputs(source: LearningSource, alphabet: Path | None, only: str) -> list[Any]:
    """Return the alphabet. Raises UsageError for one that is empty or too large."""
    from otf.values import show

    inputs = list(source.plain.messages.texts if source.plain else _of_bench(source.bench, alphabet))
    wanted = re.compile(only)
    inputs = [each for each in inputs if wanted.search(each if isinstance(each, str) else show(each))]
    if not inputs:
        raise UsageError("there are no inputs to learn with: the alphabet is empty, or --only leaves none")
    if len(inputs) > MOST:
        some = ", ".join(map(show, inputs[:3]))
        message = f"{len(inputs):,} inputs ({some}, …): each is tried in each state; choose at most {MOST} with --only"
        raise UsageError(f"{message} or --alphabet")
    return inputs


def _of_bench(bench: Bench, alphabet: Path | None) -> Iterable[Any]:
    """Return the inputs of a bench's own model, or those of them that are in a file."""
    from otf.cli.tools.learnt_files import sent_in
    from otf.cli.tools.plain_systems import lines_of
    from otf.explore import explore
    from otf.values import show

    if alphabet is not None and (alphabet.is_dir() or alphabet.suffix == ".jsonl"):
        return sent_in(alphabet, bench)
    inputs = explore(bench.spec, STATES).inputs
    if alphabet is None:
        return inputs
    known = {show(each): each for each in inputs}
    wanted = lines_of(alphabet)
    unknown = next((each for each in wanted if each not in known), None)
    if unknown is not None:
        some = ", ".join(list(known)[:5])
        raise UsageError(f"{alphabet}: {unknown!r} is no input of {bench.name}; it has {some}, …")
    return [known[each] for each in wanted]


def _learn(
    bench: Bench,
    inputs: list[Any],
    folder: Path,
    source: LearningSource,
    options: tuple[str, int, float | None, int, int, str],
    *,
    quiet: bool,
) -> tuple[Pupil, int]:
    from contextlib import nullcontext

    from otf.adapter.kept import keeping
    from otf.cli.progress import working
    from otf.cli.signals import interruptible
    from otf.cli.tools.learn_report import line
    from otf.learn.teaching import Pupil

    algorithm, extra, seconds, seed, jobs, mask = options

    def told(hypothesis: LearntMachine) -> None:
        if not quiet:
            sent = counted(pupil.learning.sent, "input")
            warn(f"{counted(hypothesis.size, 'state')} after {sent}, {monotonic() - pupil.began:.1f} s")

    pupil = Pupil(
        bench,
        inputs,
        folder,
        reference=source.reference,
        seed=seed,
        jobs=jobs,
        seconds=seconds,
        mask=mask,
        told=told,
    )

    async def work() -> None:
        with nullcontext() if quiet else working(lambda: line(pupil)):
            async with keeping():
                await pupil.run(algorithm, extra)
                if pupil.complete:
                    await pupil.measure(folder / "timers")

    done = interruptible(work)
    return pupil, done.status(PASS)
