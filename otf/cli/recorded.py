"""What a trace says of how its bench was made: what is taken from it, and what the user has to say again.

A trace may come from a stranger. Of its parameters a bench gets those that it lets a trace choose, within their bounds
(`otf.adapter.bench_options`): an address, a file or a program of a stranger's choice never reaches it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn

import msgspec

from otf.adapter import Bench
from otf.adapter.bench_options import allowed, settable
from otf.cli.benches import LONGEST, TIMES, load, named, parameters
from otf.cli.ending import warn
from otf.errors import UsageError
from otf.trace.record import Header
from otf.values import show

SHORT: Final = 1.0
"""Seconds of waiting that a trace may choose for any bench; for one that waits long by itself, ten times as long."""
TIMES_AS_LONG: Final = 10
LARGEST: Final = 50  # inputs in a burst that a trace may choose


def bench_as_recorded(header: Header, reference: str, sets: Mapping[str, object], *, drives: bool) -> Bench:
    """Return the bench of a trace, made as it was recorded; `sets` count before that.

    `drives`: a system is to be driven, so that waiting takes time. Raises UsageError for what the trace was recorded
    with and may not choose, where `sets` does not say it.
    """
    own = _parameters(header, reference, sets)
    if refused := _refused(reference, own):
        _refuse(refused)
    bench = load(reference, {**own, **sets})
    times = {key: value for key, value in _times(header).items() if key not in sets}
    if too_long := {key: value for key, value in times.items() if not 0 <= value <= _most(bench, key, drives=drives)}:
        _refuse(too_long)
    return replace(bench, parameters={**bench.parameters, **times}, **{TIMES[key]: times[key] for key in times})


def burst_as_recorded(header: Header, steps: int) -> int:
    """Return how many inputs are sent at once: no more than there are, and than can be explained in a short time."""
    if min(header.burst, steps) > LARGEST:
        warn(f"note: a trace may choose bursts of {LARGEST} inputs at most, and so many are sent at once")
    return min(header.burst, max(1, steps), LARGEST)


def repeated(bench: Bench, reference: str, *, drives: bool) -> str:
    """Return the options without which traces of a bench would be refused; `drives`: where they are driven again."""
    own = {key: _written(value) for key, value in bench.parameters.items() if key not in TIMES}
    refused = _refused(reference, _differing(own, parameters(reference)))
    times = {key: value for key, value in bench.parameters.items() if drives and key in TIMES and _is_long(value)}
    return "".join(f" --set {shlex.quote(f'{key}={_text(value)}')}" for key, value in {**refused, **times}.items())


def _refuse(refused: Mapping[str, object]) -> NoReturn:
    told = ", ".join(f"{key}={show(value)}" for key, value in refused.items())
    again = " ".join(f"--set {key}=…" for key in refused)
    message = f"the trace was recorded with {told}, which a trace may not choose, since it may come from a stranger"
    raise UsageError(f"{message}: say it yourself with {again}")


def _parameters(header: Header, reference: str, sets: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters of a trace that are not as the bench has them without it."""
    known = parameters(reference, sets)
    own = {key: value for key, value in header.parameters.items() if key not in TIMES or key in known}
    for key in own.keys() - known.keys():
        warn(f"note: {reference} has no parameter {show(key)} any more; what the trace says of it is left out")
    return _differing({key: value for key, value in own.items() if key in known and key not in sets}, known)


def _differing(written: Mapping[str, object], known: Mapping[str, object]) -> dict[str, object]:
    # what is known is written as a trace has it, and not the other way round: a type may do anything with a value
    return {key: value for key, value in written.items() if _written(known[key]) != value}


def _written(value: object) -> object:
    return msgspec.to_builtins(value, enc_hook=str)


def _refused(reference: str, written: Mapping[str, object]) -> dict[str, object]:
    may = settable(named(reference))
    return {key: value for key, value in written.items() if not allowed(may.get(key, ()), value)}


def _times(header: Header) -> dict[str, Any]:
    return {"quiescence": header.quiescence, "L": header.latency, "R": header.busy}


def _most(bench: Bench, key: str, *, drives: bool) -> float:
    if not drives:
        return LONGEST
    own = bench.timing.quiescence if key == "quiescence" else float(getattr(bench, TIMES[key]))
    return max(SHORT, TIMES_AS_LONG * own)


def _is_long(value: Any) -> bool:  # noqa: ANN401 -- a time, as the command line or a description has it
    return float(value) > SHORT


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
