"""`otf learn`: a model of the running system alone, as a picture, as Python, and as a page to walk on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Final

from otf.adapter import Bench
from otf.adapter.kept import keeping
from otf.campaign.recorder import reread
from otf.cli.benches import load
from otf.cli.options import SystemOptions
from otf.cli.output import fresh, warn
from otf.cli.progress import working
from otf.cli.run_options import bounded
from otf.cli.signals import interruptible
from otf.cli.sut_addresses import addressed
from otf.cli.tools import learn_report
from otf.cli.tools.check import formulas
from otf.cli.tools.commands import LearnCommand
from otf.cli.tools.learn_registers import tried
from otf.cli.tools.learn_report import line
from otf.cli.tools.plain_systems import DATAGRAMS, PlainSystem, lines_of, messages, named, unescaped
from otf.cli.tools.report import open_page
from otf.codec.malformed import Malformed, Unreadable
from otf.errors import FAIL, INCONCLUSIVE, PASS, OtfError, UsageError, near
from otf.explore import explore
from otf.explore.exports import marks
from otf.learn.checking import CheckedProperty, checked
from otf.learn.learning import LearntMachine
from otf.learn.learnt import LearntSystem
from otf.learn.listening import answers_to
from otf.learn.model_code import written
from otf.learn.teaching import Pupil
from otf.report.states import model_page
from otf.runner.writer import put
from otf.spec import Elapse
from otf.temporal import Formula
from otf.trace.events import Sent
from otf.trace.result import counted
from otf.values import key, show

SHOWN: Final = 5
MOST: Final = 200  # inputs of an alphabet: learning tries each of them in each state
STATES: Final = 1_000  # states of a bench's own model to search for inputs


def learn(asked: LearnCommand) -> int:
    """Do what the command asks; return the exit status."""
    _check_patterns(only=asked.only, mask=asked.mask)
    seconds = bounded(asked.time, None)
    source = _answering(source_of(asked), asked.system)
    if source.plain is not None and source.plain.messages.registers:
        source = of_plain(tried(source.plain, asked.system.watched))
    made = asked.system.watched(source.bench)
    promised = formulas(made.properties, asked.properties or ())
    inputs = [*_inputs(source, asked.alphabet, asked.only), *([] if asked.wait is None else [Elapse(asked.wait)])]
    folder = asked.out or fresh("learn", made.name)
    folder.mkdir(parents=True, exist_ok=True)
    pupil, number = _learn(made, inputs, folder, source, asked, seconds)
    learnt = pupil.learnt
    if learnt is None:
        raise UsageError("nothing was learnt: not even the answers to single inputs are known; give it more --time")
    files = write(folder, learnt, source, learn_report.known(pupil, asked.extra))
    judged = _checked(pupil, learnt, promised)
    learn_report.tell(pupil, learnt, files, judged, asked.extra, as_json=asked.as_json)
    if asked.opens:
        open_page(files[-1])
    return number or _status(judged, complete=pupil.complete)


def _check_patterns(**options: str) -> None:
    for name, text in options.items():
        try:
            re.compile(text)
        except re.error as error:
            raise UsageError(f"--{name} {text}: it is not a regular expression: {error}") from error


def _status(judged: Iterable[CheckedProperty], *, complete: bool) -> int:
    confirms = {each.confirms for each in judged}
    return FAIL if True in confirms else PASS if complete and False not in confirms else INCONCLUSIVE


def _checked(pupil: Pupil, learnt: LearntSystem, properties: Mapping[str, Formula]) -> list[CheckedProperty]:
    async def work() -> list[CheckedProperty]:
        async with keeping():
            return await checked(pupil.driver, learnt, properties)

    return (interruptible(work).value if properties else None) or []


def _answering(source: LearningSource, system: SystemOptions) -> LearningSource:
    """Return a source whose messages end as the system expects: a guessed end is the one that gets more answers."""
    plain = source.plain
    if plain is None or not plain.messages.guessed or plain.url.partition(":")[0] in DATAGRAMS:
        return source
    other = of_plain(replace(plain, messages=replace(plain.messages, end="\r\n")))
    most, best = 0, source
    for each in (source, other):
        work = partial(answers_to, system.watched(each.bench), plain.messages.texts[:MOST])
        # an input that another one ended gets half an answer: the more answers, the better
        answered = sum(map(bool, interruptible(work).value or ()))
        if answered > most:
            most, best = answered, each
    if not most:
        warn("no message is answered, whether it ends with \\n or with \\r\\n; --framing has other ends")
    elif best is other:
        warn("messages end with \\r\\n: so more of them are answered than with \\n")
    return best


def _inputs(source: LearningSource, alphabet: Path | None, only: str) -> list[Any]:
    """Return the alphabet. Raises UsageError if it is empty or too large."""
    inputs = list(source.plain.messages.texts if source.plain else _of_bench(source.bench, alphabet))
    wanted = re.compile(only)
    texts = [each if isinstance(each, str) else show(each) for each in inputs]
    inputs = [each for each, text in zip(inputs, texts, strict=True) if wanted.search(text)]
    if texts and not inputs:
        some = ", ".join([*texts[:SHOWN], *["…"] * (len(texts) > SHOWN)])
        raise UsageError(f"--only {only}: it leaves none of the {len(texts):,} inputs: {some}")
    if not inputs:
        raise UsageError("there are no inputs to learn with: the alphabet is empty; name messages with --alphabet FILE")
    if len(inputs) > MOST:
        some = ", ".join(map(show, inputs[:3]))
        message = f"{len(inputs):,} inputs ({some}, …): each is tried in each state; choose at most {MOST} with --only"
        raise UsageError(f"{message} or --alphabet")
    return inputs


def _of_bench(bench: Bench, alphabet: Path | None) -> Iterable[Any]:
    """Return the inputs of a bench's own model, or those of them listed in a file."""
    if alphabet is not None and (alphabet.is_dir() or alphabet.suffix == ".jsonl"):
        return sent_in(alphabet, bench)
    inputs = explore(bench.spec, STATES).inputs
    if alphabet is None:
        return inputs
    known = {show(each): each for each in inputs}
    wanted = lines_of(alphabet)
    unknown = next((each for each in wanted if each not in known), None)
    if unknown is not None:
        some = ", ".join(list(known)[:SHOWN])
        hint = near(unknown, known)
        raise UsageError(
            f"{alphabet}: {unknown!r} is not an input of {bench.name}; {f'{hint} it has'.lstrip()} {some}, …; "
            "for inputs that only a run reaches, give the folder of a campaign instead of this file"
        )
    return [known[each] for each in wanted]


def _learn(
    bench: Bench, inputs: list[Any], folder: Path, source: LearningSource, asked: LearnCommand, seconds: float | None
) -> tuple[Pupil, int]:
    def tell(hypothesis: LearntMachine) -> None:
        if not asked.as_json:
            sent = counted(pupil.learning.sent, "input")
            warn(f"{counted(hypothesis.size, 'state')} after {sent}, {monotonic() - pupil.began:.1f} s")

    own: dict[str, Any] = {"seed": asked.seed, "jobs": asked.jobs, "seconds": seconds, "mask": asked.mask}
    pupil = Pupil(bench, inputs, folder, reference=source.reference, told=tell, **own)

    async def work() -> None:
        with nullcontext() if asked.as_json else working(lambda: line(pupil)):
            async with keeping():
                await pupil.run(asked.algorithm, asked.extra)
                if pupil.complete:
                    await pupil.measure(folder / "timers")

    done = interruptible(work)
    return pupil, done.status(PASS)


TRACES: Final = 1_000  # traces of a folder to read inputs from
LEARNED: Final = "learned"


@dataclass(frozen=True)
class LearningSource:
    """What to learn from: a bench and its name, or `plain`, a system of which only the address is known."""

    bench: Bench
    reference: str
    suts: Sequence[str] = ()
    sets: Mapping[str, object] = field(default_factory=dict[str, object])
    plain: PlainSystem | None = None


def source_of(asked: LearnCommand) -> LearningSource:
    """Return the source that a command line names. Raises UsageError."""
    suts, given = asked.system.sut, asked.system.parameters
    if asked.bench is not None:
        if asked.framing or asked.start or asked.reset or asked.register:
            raise UsageError(
                "--framing, --start, --reset and --register are for a system without a bench; a bench has its own"
            )
        return LearningSource(addressed(load(asked.bench, given), suts), asked.bench, suts, given)
    if len(suts) != 1 or asked.alphabet is None:
        message = "name a bench, or give the address of the system and its messages"
        raise UsageError(f"{message}: otf learn --sut tcp://127.0.0.1:6667 --alphabet messages.txt")
    found = messages(asked.alphabet, asked.framing, registers=suts[0].partition(":")[0] not in DATAGRAMS)
    patterns = {each.name: each.pattern for each in found.registers} | named(asked.register or ())
    for each in found.registers:
        some = ", ".join(each.messages[:2])
        warn(f"register {each.name}: what comes in {patterns[each.name]} is sent in {some}, as in the recording")
    reset = [*map(unescaped, asked.reset or ())]
    return of_plain(PlainSystem(suts[0], found, asked.start, reset, patterns, asked.system.quiescence))


def of_plain(plain: PlainSystem) -> LearningSource:
    """Return the source for a system of which only the address and messages are known."""
    return LearningSource(plain.bench(), f"{LEARNED}.py", [plain.url], plain=plain)


def sent_in(where: Path, bench: Bench) -> list[Any]:
    """Return the inputs sent in a trace, or in those of a folder, each once."""
    traces = sorted(where.glob("path-*.jsonl")) if where.is_dir() else [where]
    events = (event for trace in traces[:TRACES] for event in reread(trace, bench))
    sent = (event.input for event in events if isinstance(event, Sent) and not isinstance(event.input, Malformed))
    return list({key(inp): inp for inp in sent}.values())


def write(folder: Path, learnt: LearntSystem, origin: LearningSource, known: Sequence[str]) -> list[Path]:
    """Write the results into the folder; return the files, the page last. Raises UsageError."""
    picture, model, page = (folder / f"{LEARNED}.{end}" for end in ("dot", "py", "html"))
    put(picture, learnt.dot(known).encode())
    files = [picture]
    try:
        put(model, _model(learnt, origin, known).encode())
        files.append(model)
    except OtfError as error:
        warn(f"{model}: it was not written: {error}")
    graph = explore(learnt.spec())
    put(page, model_page(graph, marks(graph), dict.fromkeys(known)).encode())
    return [*files, page]


def _model(learnt: LearntSystem, origin: LearningSource, known: Sequence[str]) -> str:
    if origin.plain is not None:
        return written(learnt, known, *origin.plain.code())
    imports, system = _bench_of(origin)
    own = f'spec=spec, inputs="uioco", mutants={{}}, requirements=type({system}.requirements)()'
    if any(isinstance(value, Unreadable) for outputs in learnt.symbols.outputs.values() for _, value in outputs):
        imports = ["from otf.codec.malformed import MalformedCodec", *imports]
        own = f"{own}, codec=MalformedCodec({system}.codec)"
    return written(learnt, known, [f"bench = replace({system}, {own})"], imports)


def _bench_of(origin: LearningSource) -> tuple[list[str], str]:
    """Return the imports and the code of the learnt bench."""
    own = dict(origin.sets)
    call = f"load({_place(origin.reference)!r}, {own!r})"
    imports = ["from otf.cli.benches import load"]
    if origin.suts:
        imports.append("from otf.cli.sut_addresses import addressed")
        call = f"addressed({call}, {list(origin.suts)!r})"
    return [*imports, "", f"system = {call}"], "system"


def _place(reference: str) -> str:
    """Return a name for a bench that works from any folder: a file by its full path."""
    where, colon, name = reference.rpartition(":")
    file = where if colon else reference
    if not Path(file).suffix or not Path(file).exists():
        return reference
    return os.fspath(Path(file).resolve()) + (f":{name}" if colon else "")
