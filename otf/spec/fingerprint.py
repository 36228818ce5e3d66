"""The fingerprint of a spec: it changes when the source of the model changes."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any, Final, TypeGuard

from otf.spec.spec import Spec

_OWN: Final = ("otf.spec.", "otf.channels.", "otf.compose.", "otf.fronts.")


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
