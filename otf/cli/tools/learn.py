"""`otf learn`: a model from nothing but the running system, as a picture, as Python, and as a page to walk on."""

from __future__ import annotations

import re
import webbrowser
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from otf.cli.options import AsJson, Quiescence, Sets, SilenceOption, Suts, fresh
from otf.cli.output import document, guarded, say, warn
from otf.errors import INCONCLUSIVE, PASS, UsageError
from otf.trace.result import counted

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.cli.tools.learnt_files import LearningSource
    from otf.learn.learning import LearntMachine
    from otf.learn.learnt import LearntSystem
    from otf.learn.teaching import Pupil

MOST: Final = 200  # inputs of an alphabet: each is tried in each state
STATES: Final = 1_000  # of a bench's own model in which its inputs are looked up
SHOWN: Final = 4  # answers of a system that chooses
LONGEST: Final = 120  # characters of each
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
    sut: Suts = None,
    alphabet: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The inputs, one a line: of a bench as otf shows them, else the text of each message; or a trace or a "
            "folder of traces of the bench, with what was sent there.",
        ),
    ] = None,
    only: Annotated[
        str, typer.Option(metavar="REGEX", help="Only inputs that match this, as otf shows them.", show_default=False)
    ] = "",
    algorithm: Annotated[str, typer.Option(metavar="NAME", help="One of kv, lsharp, lstar.")] = "kv",
    extra: Annotated[
        int,
        typer.Option(metavar="NUMBER", min=0, help="Suites up to this many states more than were found have to pass."),
    ] = 1,
    time: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="End after this time, with what is known by then.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="The seed of the order of tests and of walks.")] = 0,
    jobs: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="How many copies of the system are asked at the same time.")
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The folder for traces and results; one that is there goes on."),
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open the page with the picture in a browser.")] = False,
    quiescence: Quiescence = None,
    silence: SilenceOption = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Learn a model from the running system, by asking it; needs AALpy: pip install 'otf[learn]'.

    Each question is a path after a reset: inputs, each followed by outputs until the system rests. The folder gets a
    trace of each, and learned.dot, learned.py (a bench which the system passes), and learned.html to walk on. The exit
    status is 3 if the time was over, or if the system chooses between answers.
    """
    from otf.cli.run_options import watched
    from otf.cli.tools import learnt_files

    source = learnt_files.source(bench, sut, alphabet, sets, quiescence)
    made = watched(source.bench, silence, None)
    inputs = _inputs(source, alphabet, only)
    folder = out or fresh("learn", made.name)
    folder.mkdir(parents=True, exist_ok=True)
    pupil, number = _learn(made, inputs, folder, source, (algorithm, extra, time, seed, jobs), quiet=as_json)
    learnt = pupil.learnt
    if learnt is None:
        raise UsageError("nothing was learnt: not even the answers to single inputs are known; give it more --time")
    files = learnt_files.write(folder, learnt, source, _known(pupil, extra))
    _report(pupil, learnt, files, extra, as_json=as_json)
    if opens and not webbrowser.open(files[-1].resolve().as_uri()):
        warn(f"no browser could be started: open {files[-1]} yourself")
    return number or (PASS if pupil.complete else INCONCLUSIVE)


def _inputs(source: LearningSource, alphabet: Path | None, only: str) -> list[Any]:
    """Return the alphabet. Raises UsageError for one that is empty or too large."""
    from otf.values import show

    inputs = list(source.inputs or _of_bench(source.bench, alphabet))
    try:
        wanted = re.compile(only)
    except re.error as error:
        raise UsageError(f"--only {only}: it is no regular expression: {error}") from error
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
    from otf.cli.tools.learnt_files import lines_of, sent_in
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
    options: tuple[str, int, float | None, int, int],
    *,
    quiet: bool,
) -> tuple[Pupil, int]:
    from contextlib import nullcontext

    from otf.adapter.kept import keeping
    from otf.cli.progress import working
    from otf.cli.signals import interruptible
    from otf.learn.teaching import Pupil

    algorithm, extra, seconds, seed, jobs = options

    def told(hypothesis: LearntMachine) -> None:
        if not quiet:
            sent = counted(pupil.learning.sent, "input")
            warn(f"{counted(hypothesis.size, 'state')} after {sent}, {monotonic() - pupil.began:.1f} s")

    pupil = Pupil(bench, inputs, folder, reference=source.reference, seed=seed, jobs=jobs, seconds=seconds, told=told)

    async def work() -> None:
        with nullcontext() if quiet else working(lambda: _line(pupil)):
            async with keeping():
                await pupil.run(algorithm, extra)

    done = interruptible(work)
    return pupil, done.status(PASS)


def _line(pupil: Pupil) -> str:
    """Return how far learning has come, in a line."""
    best, sent = pupil.learning.best, pupil.driver.inputs_sent
    if best is None:
        return f"learning: {counted(sent, 'input')}"
    suite = best.progress
    left = f"suite for k = {suite.extra}: {suite.done:,} of {suite.total:,}"
    return f"learning: {counted(best.size, 'state')}, {counted(sent, 'input')}; {left}"


def _known(pupil: Pupil, extra: int) -> list[str]:
    """Return what is known of the result, in sentences."""
    best = pupil.learning.best
    if best is None:
        return []
    complete = extra if pupil.complete else best.progress.complete
    size = counted(best.size, "state")
    lines = [f"{size}, {counted(len(pupil.driver.inputs), 'input')} of the alphabet."]
    if complete is None:
        lines.append("No suite has passed: there may be more states.")
    else:
        lines += guarantees(best.size, complete)
    lost = list(pupil.learning.answers.lost())
    if lost:
        lines.append(f"At {counted(len(lost), 'place')} an answer differed now and then; the others decided.")
    if pupil.driver.settle:
        lines.append(f"Without a pause of {pupil.driver.settle:g} s before each path its answers differed.")
    if pupil.symbols.masked:
        lines.append("What varies from path to path is `*`, and any value there.")
    return lines


def guarantees(states: int, extra: int) -> list[str]:
    """Return in sentences for which systems a machine is right whose suites for so many extra states passed."""
    from otf.suite import ASSUMED, wider

    return [f"Right for every system with at most {states + extra} states, if {ASSUMED};", f"{wider(extra)}."]


def _report(pupil: Pupil, learnt: LearntSystem, files: list[Path], extra: int, *, as_json: bool) -> None:
    seconds = monotonic() - pupil.began
    sent, best = pupil.driver.inputs_sent, learnt.machine
    if as_json:
        document(
            {
                "states": best.size,
                "inputs": len(learnt.inputs),
                "sent": sent,
                "to_the_last_hypothesis": pupil.learning.asked,
                "paths": pupil.learning.answers.paths,
                "seconds": round(seconds, 3),
                "complete": pupil.complete,
                "extra": extra if pupil.complete else -1 if (most := best.progress.complete) is None else most,
                "chooses": _choice(pupil),
                "files": list(map(str, files)),
            }
        )
        return
    for line in _known(pupil, extra):
        say(line)
    rate = f"{sent / seconds:,.0f} inputs/s" if seconds else ""
    say(f"{counted(sent, 'input')} in {counted(pupil.learning.answers.paths, 'path')}, {seconds:.1f} s: {rate}")
    say(f"silence: {pupil.driver.silence or 'the system has answered when it returns'}")
    say(f"last hypothesis after {counted(pupil.learning.asked, 'input')}")
    if pupil.resumed:
        say(f"{counted(pupil.resumed, 'path')} of an earlier time in this folder")
    if _choice(pupil):
        say(_choice(pupil))
    elif not pupil.complete:
        say(f"it has not come to its end; go on with --out {files[0].parent}")
    for file in files:
        say(f"  {file}")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def _choice(pupil: Pupil) -> str:
    if pupil.choice is None:
        return ""
    from otf.learn.learnt import plain

    word, answers = pupil.choice.parted
    shown = ", ".join(plain(pupil.driver.inputs[inp]) for inp in word)
    most = sorted(answers, key=lambda out: -answers[out])[:SHOWN]
    ways = "; ".join(f"{_cut(out)} ({answers[out]} times)" for out in most)
    ways += f"; and {len(answers) - SHOWN} others" if len(answers) > SHOWN else ""
    return f"the system chooses, or a timer or another client does: after {shown} came {ways}"
