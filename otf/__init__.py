"""otf tests a running system against a model of it, on the fly.

The model is a function (`Spec`, `goto`). A `Bench` combines the model with the ports of the system. `run` drives the
system, and raises an exception if the system does something that the model does not allow.

The package `otf` exports the names that nearly every test needs. The parts of benches (`Life`, `Barrier`, `PortAction`,
`lossy`, …) are in `otf.adapter`, adapters in `otf.adapters`, framings in `otf.framing`. Events and verdicts are in
`otf.trace`, logical connectives in `otf.logic`, and shipped models in `otf.models`. To test your own codecs and
adapters, use `otf.testing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from otf._exports import fetching

if TYPE_CHECKING:
    from otf.adapter import Bench, trace_may_set
    from otf.campaign import InconclusiveError, NonconformanceError, Settings, Summary, run
    from otf.codec import Codec, lines
    from otf.errors import CodecError, ContactError, ModelError, OtfError, TraceError, UsageError
    from otf.logic import check, check_async
    from otf.spec import Accept, AnyOrder, OneOf, Spec, Transition, Where, goto, on, restrict, start, stop, total
    from otf.trace import Ended

__all__ = [
    "Accept",
    "AnyOrder",
    "Bench",
    "Codec",
    "CodecError",
    "ContactError",
    "Ended",
    "InconclusiveError",
    "ModelError",
    "NonconformanceError",
    "OneOf",
    "OtfError",
    "Settings",
    "Spec",
    "Summary",
    "TraceError",
    "Transition",
    "UsageError",
    "Where",
    "check",
    "check_async",
    "goto",
    "lines",
    "on",
    "restrict",
    "run",
    "start",
    "stop",
    "total",
    "trace_may_set",
]

if not TYPE_CHECKING:  # lets type checkers find a misspelt name
    __getattr__ = fetching(__name__)


def __dir__() -> list[str]:
    return __all__
