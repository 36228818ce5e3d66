"""Exceptions of the user's code: the lines of that code in the traceback, and the name that was probably meant."""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import dropwhile
from os import sep
from pathlib import Path
from types import FrameType
from typing import Any, Final

from otf.errors import ModelError, near
from otf.values.text import as_text, plain, shortened

ENGINE: Final = str(Path(__file__).parents[1]) + sep
MODELS: Final = f"{ENGINE}models{sep}"
HOMES: Final = ("otf.spec", "otf.adapters", "otf.compose", "otf.adapter", "otf.logic", "otf.strategy")
"""The packages whose names otf itself does not have: see `meant_name`."""
SHOWN: Final = 8  # the innermost lines: infinite recursion has a thousand
FEW: Final = 12  # names of a value that are listed
CAUSES: Final = 3  # exceptions of a chain
SAID: Final = 8  # lines of a message
WIDE: Final = 200  # characters of a line
MISCALLED: Final = re.compile(r"([\w.<>]+)\(\) (?:takes|missing|got) ")
UNNAMED: Final = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY}
LIBRARIES: Final = re.compile(
    f"<|{re.escape(str(Path(traceback.__file__).parent))}|.*[/\\\\](site|dist)-packages[/\\\\]"
)


def blame(what: str, error: BaseException, function: Callable[..., Any] | None = None) -> ModelError:
    """Return the error for an exception in the user's code: the call, the name probably meant, and the code's lines.

    >>> print(blame("the model raised", KeyError("coin")))
    the model raised KeyError: 'coin'
    """
    return ModelError(f"{what} {advised(error, meant(error))}{own_frames(error, function)}")


def advised(error: BaseException, advice: str) -> str:
    """Return an error as one line, with advice on a name instead of Python's own, which 3.13 has for keywords."""
    said = "\n".join(map(shortened, describe(error).splitlines()[:SAID]))
    return f"{said.partition('. Did you mean')[0]}{advice}" if advice else said


def own_frames(error: BaseException, function: Callable[..., Any] | None = None) -> str:
    """Return the lines of the model's code that raised an error, to append to the error's message; "" if unknown.

    `own_frames` omits lines of otf itself. If no lines remain, the model yielded or returned something wrong, and
    `own_frames` returns the line of the `yield`, or else the file and line of the model's `function`.
    """
    every = list(traceback.walk_tb(error.__traceback__))
    found = [each for each in every if _is_own(each[0].f_code.co_filename) and not _is_generated(each[0])]
    found = found or _paused(frame for frame, _ in reversed(every))
    # what the user's code calls in a library is worth a look, what called it is not
    frames = list(dropwhile(lambda each: LIBRARIES.match(each[0].f_code.co_filename), found)) or found
    lines = "".join(traceback.StackSummary.extract(iter(frames[-SHOWN:])).format()).rstrip()
    left = f"\n  … {len(frames) - SHOWN} more frames" if len(frames) > SHOWN else ""
    return f"{left}\n{lines}" if lines else definition(function)


def _paused(frames: Iterable[FrameType]) -> list[tuple[FrameType, int]]:
    """Return the lines at which a generator of the user waits, which frames of otf iterate over."""
    for value in (value for frame in frames for value in frame.f_locals.values()):
        if found := _waiting(value):
            return found
    return []


def _waiting(generator: object) -> list[tuple[FrameType, int]]:
    frame: FrameType | None = generator.gi_frame if inspect.isgenerator(generator) else None
    if frame is None:
        return []
    if _is_own(frame.f_code.co_filename):
        return [(frame, frame.f_lineno), *_waiting(getattr(generator, "gi_yieldfrom", None))]
    return _paused([frame])


def describe(error: BaseException) -> str:
    """Return an error as one line.

    >>> describe(SystemExit(0)), describe(GeneratorExit())
    ('SystemExit: 0', 'GeneratorExit')
    """
    name, text = type(error).__name__, as_text(error)
    return f"{name}: {text}" if text else name


def traced(error: BaseException, causes: int = CAUSES) -> str:
    """Return the user's lines of an exception and of what caused it as a traceback, in few and short lines.

    >>> traced(KeyError("coin")).splitlines()
    ['Traceback (most recent call last):', "KeyError: 'coin'"]
    """
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    before = f"{traced(cause, causes - 1)}\n\n" if cause is not None and causes > 1 else ""
    lines = f"Traceback (most recent call last):{own_frames(error)}".splitlines()
    said = describe(error)[: SAID * WIDE].splitlines()[:SAID]
    return before + "\n".join(shortened(plain(line), WIDE) for line in (*lines, *said))


def own_line(error: BaseException) -> str:
    """Return the innermost line of the user's own code in which an error was raised, without its folder; "" if unknown.

    >>> own_line(KeyError("coin"))
    ''
    """
    frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [each for each in frames if _is_own(each[0].co_filename) and not LIBRARIES.match(each[0].co_filename)]
    return f"{Path(own[-1][0].co_filename).name}, line {own[-1][1]}, in {own[-1][0].co_name}" if own else ""


def is_users(error: BaseException) -> bool:
    """Return whether the user's code raised an error, either itself or in a library that it called."""
    files = [each.f_code.co_filename for each, _ in traceback.walk_tb(error.__traceback__)]
    known = [each for each in files if not LIBRARIES.match(each) or each.startswith(ENGINE)]
    return bool(known) and _is_own(known[-1])


def meant(error: BaseException) -> str:
    """Return what to append to an error about an unknown name or a wrong call; "" if nothing helps.

    That is the name that was probably meant, or what the called function takes.
    """
    with suppress(Exception):  # dir() of a user's object runs the user's code
        name, names = _unknown(error)
        found = (meant_name if isinstance(error, NameError | ImportError) else near)(name, names)
        if isinstance(error, ImportError) and not found:
            public = getattr(sys.modules.get(str(error.name)), "__all__", ())
            found = f"it has {', '.join(public)}" if public else ""
        if isinstance(error, AttributeError) and not found:
            fields = [each for each in names if not each.startswith("_")]
            found = f"it has {', '.join(fields)}" if 0 < len(fields) <= FEW else ""
        called = MISCALLED.match(str(error)) if isinstance(error, TypeError) else None
        if called and not found and (frame := _last(error)) is not None:
            found = f"it takes {_signature(called[1], frame)}"
        return f"; {found}" * bool(found)
    return ""


def meant_name(name: str, names: Iterable[str]) -> str:
    """Return what to write for an unknown name: its import, if otf has it, or the name that was probably meant.

    >>> meant_name("goto", ["got"]), meant_name("spce", ["spec"]), meant_name("Elapse", [])
    ('write `from otf import goto`', 'did you mean spec?', 'write `from otf.spec import Elapse`')
    """
    if name in getattr(sys.modules.get("otf"), "__all__", ()):
        return f"write `from otf import {name}`"
    return near(name, names) or next((f"write `from {each} import {name}`" for each in HOMES if _has(each, name)), "")


def _has(module: str, name: str) -> bool:
    with suppress(ImportError):
        return name in getattr(import_module(module), "__all__", ())
    return False


def _unknown(error: BaseException) -> tuple[str, Iterable[str]]:
    """Return the unknown name, and those that were known there, as Python's own traceback does."""
    name = str(getattr(error, "name", None) or "")
    frame = _last(error)
    if isinstance(error, AttributeError):
        return name, dir(error.obj)
    if isinstance(error, NameError) and frame is not None:
        return name, [*frame.f_locals, *frame.f_globals, *dir(frame.f_builtins)]
    if isinstance(error, ImportError) and (found := re.search(r"cannot import name '(\w+)'", str(error))):
        module = sys.modules.get(name)
        return found[1], [*dir(module), *getattr(module, "__all__", ())]
    called = re.match(r"([\w.<>]+)\(\) got an unexpected keyword argument '(\w+)'", str(error))
    if isinstance(error, TypeError) and called and frame is not None:
        return called[2], _parameters(called[1], frame)
    return "", ()


def _last(error: BaseException) -> FrameType | None:
    return next((frame for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__)))), None)


def _called(name: str, frame: FrameType) -> inspect.Signature:
    """Return the signature of a function or class that a frame called by name, perhaps as an attribute."""
    whole = name.removesuffix(".__init__")
    last, known = whole.split(".")[-1], {**frame.f_globals, **frame.f_locals}
    objects = [known.get(last), *known.values(), *(getattr(each, last, None) for each in known.values())]
    named = (each for each in objects if callable(each) and getattr(each, "__qualname__", "") == whole)
    return inspect.signature(next(named))


def _parameters(name: str, frame: FrameType) -> Iterable[str]:
    return [each.name for each in _called(name, frame).parameters.values() if each.kind not in UNNAMED]


def _signature(name: str, frame: FrameType) -> str:
    """Return the parameters, without their types and defaults, which would fill lines."""
    found = _called(name, frame)
    optional = {True: _Default(), False: inspect.Parameter.empty}
    bare = [
        each.replace(annotation=each.empty, default=optional[each.default is not each.empty])
        for each in found.parameters.values()
    ]
    return shortened(str(found.replace(parameters=bare, return_annotation=found.empty)), 2 * WIDE)


class _Default:
    def __repr__(self) -> str:
        return "…"


def definition(function: object) -> str:
    """Return the file and line of a function or class of the user's, to append to an error; "" if unknown."""
    while isinstance(function, partial):
        function = function.func
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    if code is None or not _is_own(code.co_filename):
        return ""
    return f'\n  File "{code.co_filename}", line {code.co_firstlineno}, in {code.co_name}'


def _is_generated(frame: FrameType) -> bool:
    """Return whether a frame runs code without source, such as the __init__ of a dataclass, but not `python -c`."""
    typed = frame.f_globals.get("__name__") == "__main__" and "__file__" not in frame.f_globals
    return frame.f_code.co_filename == "<string>" and not typed


def is_own(file: str) -> bool:
    """Return whether a file holds the user's code, and neither otf's nor a library's."""
    return _is_own(file) and not LIBRARIES.match(file)


def _is_own(file: str) -> bool:
    return not file.startswith(ENGINE) or file.startswith(MODELS)
