"""The header of a trace: how its run was made."""

from __future__ import annotations

import hashlib
import inspect
import platform
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from types import ModuleType
from typing import Any, Final, TypeGuard
from uuid import uuid4

from otf.adapter import Bench
from otf.campaign.settings import Settings
from otf.spec import Spec
from otf.trace.record import Header

_OWN: Final = ("otf.spec.", "otf.compose.", "otf.fronts.")


def header(bench: Bench, settings: Settings, path: int, *, strategy: str = "") -> Header:
    """Return the header for one path of a campaign."""
    return Header(
        run=uuid4().hex[:12],
        bench=settings.reference or bench.name,
        parameters=dict(bench.parameters),
        fingerprint=fingerprint(bench.spec),
        seed=settings.seed,
        strategy=strategy or str(settings.strategy),
        mode=settings.mode,
        burst=settings.burst,
        inputs=bench.inputs,
        quiescence=bench.timing.quiescence,
        latency=bench.latency,
        busy=bench.busy,
        versions={"otf": _version(), "python": platform.python_version()},
        path=path,
    )


def fingerprint(spec: Spec[Any, Any]) -> str:
    """Return a short hash of the source that a spec is written in: another one tells that the model was changed.

    The whole files are taken: a helper function or a class beside `step` belongs to the model as much.
    """
    source = "\0".join(sorted(set(_sources(spec))))
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _sources(part: object) -> Iterator[str]:
    """Yield the source of each file that a spec, or a function of it, is written in."""
    if _is_spec(part):
        # modules of other tools, which are no functions of the spec
        yield from getattr(part, "sources", ())
        for function in (part.step, part.emits, part.inputs):
            yield from _sources(function)
    elif isinstance(part, partial):
        yield from _sources(part.func)
    elif callable(part):
        module = inspect.getmodule(part)
        if module is not None and module.__name__.startswith(_OWN):
            # what completes or combines specs holds them in its closure; it is no part of the model itself
            for cell in getattr(part, "__closure__", None) or ():
                yield from _sources(cell.cell_contents)
        else:
            yield _text(part, module)


def _is_spec(part: object) -> TypeGuard[Spec[Any, Any]]:
    return isinstance(part, Spec)


def _text(function: object, module: ModuleType | None) -> str:
    if module is not None:
        with suppress(OSError, TypeError):
            return inspect.getsource(module)
    # it was typed in, or is built in: the name is all there is
    return getattr(function, "__qualname__", "")


@cache
def _version() -> str:
    return version("otf")
