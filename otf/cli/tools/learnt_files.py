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
    from otf.learn.learnt import LearntSystem

LARGEST: Final = 1 << 20  # bytes of a file of messages
TRACES: Final = 1_000  # of a folder whose inputs are read
LEARNED: Final = "learned"
_ADAPTERS: Final = {"tcp": "tcp", "tls": "tcp", "tcp-listen": "tcp", "udp": "udp", "unix": "unix"}


@dataclass(frozen=True)
class LearningSource:
    """Where a system is learnt: its bench, as it was named; or made for an address, with the texts of `inputs`."""

    bench: Bench
    reference: str
    suts: Sequence[str] = ()
    sets: Mapping[str, object] = field(default_factory=dict[str, object])
    inputs: Sequence[str] = ()
    url: str = ""


def source(
    reference: str | None,
    suts: Sequence[str] | None,
    alphabet: Path | None,
    sets: Sequence[str] | None,
    quiescence: float | None,
) -> LearningSource:
    """Return the source of a command line. Raises UsageError."""
    from otf.cli.benches import load, parsed
    from otf.cli.sut_addresses import addressed

    given = parsed(sets, quiescence)
    if reference is not None:
        return LearningSource(addressed(load(reference, given), suts), reference, suts or (), given)
    if not suts or len(suts) != 1 or alphabet is None:
        message = "name a bench, or give the address of the system and its messages"
        raise UsageError(f"{message}: otf learn --sut tcp://127.0.0.1:6667 --alphabet messages.txt")
    texts = lines_of(alphabet)
    return LearningSource(_plain(suts[0], texts, quiescence), f"{LEARNED}.py", suts, given, texts, suts[0])


def lines_of(file: Path) -> list[str]:
    """Return the lines of a file, each once, without empty ones and comments (#). Raises UsageError."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"--alphabet {file}: it cannot be read ({error.strerror})") from error
    if len(data) > LARGEST:
        raise UsageError(f"--alphabet {file}: {len(data):,} bytes; at most {LARGEST:,} are read")
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


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


def _plain(url: str, inputs: Sequence[str], quiescence: float | None) -> Bench:
    """Return a bench whose messages are lines of text."""
    from otf.adapter import Bench
    from otf.cli.sut_addresses import opener
    from otf.codec import lines
    from otf.spec import Spec

    def step(_state: None, _inp: str) -> list[Any]:
        return []

    name = "".join(each if each.isalnum() else "_" for each in url.partition("://")[2] or url)
    codec = lines({str: "{}"}, encoding="latin-1")
    return Bench.on_ports(
        Spec(step, None, inputs), codec, {"line": opener(url)}, name=name.strip("_"), quiescence=quiescence
    )


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
    from otf.learn.learnt import written

    if origin.url:
        return written(learnt, known, _bench_at(origin), _imports_at(origin.url))
    imports, system = _bench_of(origin)
    own = f'spec=spec, inputs="uioco", mutants={{}}, requirements=type({system}.requirements)()'
    return written(learnt, known, [f"bench = replace({system}, {own})"], imports)


def _bench_at(origin: LearningSource) -> list[str]:
    kind = _adapter(origin.url)
    call = (
        f"process(url.partition(':')[2], ready=None, pty={origin.url.startswith('pty:')})"
        if kind == "process"
        else f"{kind}(url)"
    )
    quiet = origin.sets.get("quiescence")
    return [
        "",
        f"def bench(url: str = {origin.url!r}) -> Bench:",
        '    """Return the bench of the system at this address."""',
        '    codec = lines({str: "{}"}, encoding="latin-1")',
        f'    return Bench.on_ports(spec, codec, {{"line": {call}}}, quiescence={quiet!r})',
    ]


def _imports_at(url: str) -> list[str]:
    return ["from otf import Bench, lines", f"from otf.adapters import {_adapter(url)}"]


def _adapter(url: str) -> str:
    scheme = url.partition(":")[0]
    return "process" if scheme in {"exec", "pty"} else _ADAPTERS.get(scheme, "serialport")


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
