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
    """Return a short hash of the source files of a spec: if the model changes, the hash changes.

    Whole files are hashed: a helper function or a class beside `step` is part of the model as well.
    """
    source = "\0".join(sorted(set(_sources(spec))))
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _sources(part: object) -> Iterator[str]:
    """Yield the source of each file in which a spec, or one of its functions, is written."""
    if _is_spec(part):
        # modules of other tools are not functions of the spec
        yield from getattr(part, "sources", ())
        for function in (part.step, part.emits, part.inputs):
            yield from _sources(function)
    elif isinstance(part, partial):
        yield from _sources(part.func)
    elif callable(part):
        module = inspect.getmodule(part)
        if module is not None and module.__name__.startswith(_OWN):
            # functions of otf that complete or combine specs hold them in closures; they are no part of the model
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
    # it was typed in, or is built in: only its name is known
    return getattr(function, "__qualname__", "")
