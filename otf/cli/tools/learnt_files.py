"""What `otf learn` reads and writes: a bench, or an address and messages; a picture, a model in Python, a page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from otf.errors import OtfError, UsageError

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.cli.options import SystemOptions
    from otf.cli.tools.plain_systems import PlainSystem
    from otf.learn.learnt import LearntSystem

TRACES: Final = 1_000  # of a folder whose inputs are read
LEARNED: Final = "learned"


@dataclass(frozen=True)
class LearningSource:
    """Where a system is learnt: its bench, as it was named; or `plain`, of which just the address is known."""

    bench: Bench
    reference: str
    suts: Sequence[str] = ()
    sets: Mapping[str, object] = field(default_factory=dict[str, object])
    plain: PlainSystem | None = None


def source(
    reference: str | None,
    system: SystemOptions,
    alphabet: Path | None,
    framing: str,
    start: str,
    reset: Sequence[str],
    register: Sequence[str],
) -> LearningSource:
    """Return the source of a command line. Raises UsageError."""
    from otf.cli.benches import load
    from otf.cli.output import warn
    from otf.cli.sut_addresses import addressed
    from otf.cli.tools.plain_systems import DATAGRAMS, PlainSystem, messages, named, unescaped

    suts, given = system.sut, system.parameters
    if reference is not None:
        if framing or start or reset or register:
            raise UsageError(
                "--framing, --start, --reset and --register are for a system without a bench; a bench has its own"
            )
        return LearningSource(addressed(load(reference, given), suts), reference, suts, given)
    if len(suts) != 1 or alphabet is None:
        message = "name a bench, or give the address of the system and its messages"
        raise UsageError(f"{message}: otf learn --sut tcp://127.0.0.1:6667 --alphabet messages.txt")
    found = messages(alphabet, framing, registers=suts[0].partition(":")[0] not in DATAGRAMS)
    patterns = {each.name: each.pattern for each in found.registers} | named(register)
    for each in found.registers:
        some = ", ".join(each.messages[:2])
        warn(f"register {each.name}: what comes in {patterns[each.name]} is sent in {some}, as in the recording")
    return of_plain(PlainSystem(suts[0], found, start, [*map(unescaped, reset)], patterns, system.quiescence))


def of_plain(plain: PlainSystem) -> LearningSource:
    """Return the source of a system of which just the address and messages are known."""
    return LearningSource(plain.bench(), f"{LEARNED}.py", [plain.url], plain=plain)


def sent_in(where: Path, bench: Bench) -> list[Any]:
    """Return the inputs that were sent in a trace, or in those of a folder, each once."""
    from otf.campaign.recorder import reread
    from otf.codec.malformed import Malformed
    from otf.trace.events import Sent
    from otf.values import key

    traces = sorted(where.glob("path-*.jsonl")) if where.is_dir() else [where]
    events = (event for trace in traces[:TRACES] for event in reread(trace, bench))
    sent = (event.input for event in events if isinstance(event, Sent) and not isinstance(event.input, Malformed))
    return list({key(inp): inp for inp in sent}.values())


def write(folder: Path, learnt: LearntSystem, origin: LearningSource, known: Sequence[str]) -> list[Path]:
    """Write the results into the folder; return the files, the page last. Raises UsageError."""
    from otf.cli.output import warn
    from otf.explore import explore
    from otf.explore.exports import marks
    from otf.report.states import model_page
    from otf.runner.writer import put

    picture, model, page = (folder / f"{LEARNED}.{end}" for end in ("dot", "py", "html"))
    put(picture, learnt.dot().encode())
    files = [picture]
    try:
        put(model, _model(learnt, origin, known).encode())
        files.append(model)
    except OtfError as error:
        warn(f"{model}: it was not written: {error}")
    graph = explore(learnt.spec())
    put(page, model_page(graph, marks(graph), list(known), []).encode())
    return [*files, page]


def _model(learnt: LearntSystem, origin: LearningSource, known: Sequence[str]) -> str:
    from otf.learn.model_code import written

    if origin.plain is not None:
        return written(learnt, known, *origin.plain.code())
    imports, system = _bench_of(origin)
    own = f'spec=spec, inputs="uioco", mutants={{}}, requirements=type({system}.requirements)()'
    return written(learnt, known, [f"bench = replace({system}, {own})"], imports)


def _bench_of(origin: LearningSource) -> tuple[list[str], str]:
    """Return the imports and the code of the bench that was learnt."""
    own = dict(origin.sets)
    call = f"load({_place(origin.reference)!r}, {own!r})"
    imports = ["from otf.cli.benches import load"]
    if origin.suts:
        imports.append("from otf.cli.sut_addresses import addressed")
        call = f"addressed({call}, {list(origin.suts)!r})"
    return [*imports, "", f"system = {call}"], "system"


def _place(reference: str) -> str:
    """Return how a bench is named from anywhere: a file by its whole path."""
    where, colon, name = reference.rpartition(":")
    file = where if colon else reference
    if not Path(file).suffix or not Path(file).exists():
        return reference
    return os.fspath(Path(file).resolve()) + (f":{name}" if colon else "")
