"""Run the user's own code: modules by name, and files; errors name the line of the user's code.

This code runs in the tester's process, and can break what everything needs: a function of `os`, a module, a descriptor
of the event loop. The error that follows is not a defect of otf, and says nothing about the system.
"""

from __future__ import annotations

import errno
import importlib
import importlib.util
import pkgutil
import sys
import threading
import traceback
from _thread import start_new_thread
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Final

from otf.cli.output import warn
from otf.cli.unknown_names import further
from otf.errors import OtfError, UsageError, near
from otf.values.loading import AsWritten
from otf.values.raised import ENGINE, advised, meant

PREFIX: Final = "otf_bench_"  # of the module of a file, so that coffee.py does not replace a package coffee
CLOSE: Final = 0.75  # of 1, how alike two names must be: otherwise `nothere` is taken for `nc-therm`
MANY: Final = 10_000  # names of a folder to compare with a missing one
_LIBRARY: Final = Path(traceback.__file__).parent, Path(traceback.__file__).parent / "lib-dynload"
_LOADED: Final[dict[Path, tuple[int, ModuleType]]] = {}


def imported(module: str, reference: str) -> ModuleType:
    """Return a module by name. Raises UsageError, naming the line of the user's code that failed."""
    # find the user's packages in the current folder, as `python -m` does
    _search("")
    with located(reference):
        found = importlib.import_module(module)
    return found  # noqa: RET504 -- as far as mypy knows, a context manager may swallow errors


def from_file(path: Path) -> ModuleType:
    """Return a file as a module; its code runs once. Raises UsageError, naming the line that failed."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file{near_file(path, f'; otf looked in {path.parent.resolve()}')}")
    file, written = path.resolve(), path.stat().st_mtime_ns
    # a command may load its bench several times, but the code of the file must run once
    if _LOADED.get(file, (0,))[0] != written:
        _LOADED[file] = (written, _executed(path))
    return _LOADED[file][1]


def near_file(path: Path, otherwise: str = "") -> str:
    """Return a hint at the name in the same folder that was probably meant, or `otherwise`."""
    with suppress(OSError):
        # not by the ending, which most names in a folder share; one with an ending means no folder
        beside = islice(path.parent.iterdir(), MANY)
        names = {each.stem: each.name for each in beside if each.suffix or not path.suffix}
        found = get_close_matches(path.stem, names, n=1, cutoff=CLOSE)
        return f"; did you mean {path.parent / names[found[0]]}?" if found and not path.exists() else otherwise
    return otherwise


def _executed(path: Path) -> ModuleType:
    name = f"{PREFIX}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=AsWritten(name, str(path.absolute())))
    if path.suffix != ".py" or spec is None or spec.loader is None:
        hint = "; this is a trace, which `otf show`, `replay` and `report` read" if path.suffix == ".jsonl" else ""
        raise UsageError(f"{path}: a bench is a Python file, whose name ends in .py{hint}")
    module = importlib.util.module_from_spec(spec)
    # dataclasses look up their module by name, and a bench may import its neighbours as a script does
    sys.modules[spec.name] = module
    _search(str(path.parent))
    with located(str(path), path):
        spec.loader.exec_module(module)
    return module


def _search(folder: str) -> None:
    """Import from a folder too, but behind Python's own library: a bench called queue.py must not replace `queue`."""
    own = [at for at, each in enumerate(sys.path) if Path(each) in _LIBRARY]
    if folder not in sys.path:
        sys.path.insert(max(own, default=-1) + 1, folder)


@contextmanager
def located(name: str, path: Path | None = None) -> Generator[None]:
    """Turn errors of the user's code into a UsageError with file and line; `path` is the file of that code."""
    note_python()
    try:
        with _watched(name):
            yield
    except OtfError as error:
        raise type(error)(f"{name}{_line(error, path)}: {error}") from error
    except SystemExit as error:
        message = f"{name}{_line(error, path)}: it ended the program (exit {error.code!r}) instead of making a bench"
        raise UsageError(message) from error
    except SyntaxError as error:
        raise UsageError(f"{name}{_place(error, path)}: {error.msg}: {(error.text or '').strip()}") from error
    except Exception as error:
        says = advised(error, meant(error) or _module_meant(error)) + ("" if path is None else further(path, error))
        raise UsageError(f"{name}{_line(error, path)}: {says}") from error


def _module_meant(error: Exception) -> str:
    """Return what to do about a module that is not there; "" for another error."""
    if not isinstance(error, ModuleNotFoundError):
        return ""
    package = (error.name or "").rpartition(".")[0]
    folder = getattr(sys.modules.get(package), "__path__", ())
    found = near(error.name or "", [each.name for each in pkgutil.iter_modules(folder, f"{package}.")])
    return f"; {found or 'is it installed in this environment, or in this folder?'}"


SLOW: Final = 5.0  # seconds


@contextmanager
def _watched(name: str) -> Generator[None]:
    """Report where the user's code is if it takes long: an import may wait for a server, or never end."""
    over, user = threading.Event(), threading.get_ident()

    def watch() -> None:
        seconds = SLOW
        while not over.wait(seconds):
            frames = traceback.extract_stack(sys._current_frames()[user])  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- Python offers no other way
            own = [each for each in frames if not each.filename.startswith("<") and not _is_ours(each.filename)]
            where = f"now at {own[-1].filename}, line {own[-1].lineno}"
            warn(f"{name} has been loading for {seconds:g} s, {where}; Ctrl-C ends it")
            seconds *= 10

    # a process that cannot start a thread does without
    with suppress(RuntimeError):
        # Thread.start would wait for ever for a thread that had no memory to begin
        start_new_thread(watch, ())
    try:
        yield
    finally:
        over.set()


def _place(error: SyntaxError, path: Path | None) -> str:
    if not error.lineno:
        return ""  # some errors concern the whole file
    other = "" if path is not None and _same(error.filename or "", path) else f", {error.filename}"
    return f"{other}, line {error.lineno}"


def _line(error: BaseException, path: Path | None) -> str:
    """Return the innermost traceback line in the user's file; without `path`, in any file of the user."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    own = [frame for frame in frames if path is not None and _same(frame.filename, path)]
    if own:
        return f", line {own[-1].lineno}"
    # except for the commands and Python's import machinery, all frames belong to the user's modules
    deep = [frame for frame in frames if "importlib" not in frame.filename and not _is_ours(frame.filename)]
    return f", {deep[-1].filename}, line {deep[-1].lineno}" if deep and path is None else ""


def _is_ours(filename: str) -> bool:
    return Path(filename).resolve().parent == Path(__file__).resolve().parent


def _same(filename: str, path: Path) -> bool:
    return Path(filename).resolve() == path.resolve()


_NAMES: Final = ("builtins", "os", "time", "json", "threading", "signal", "socket", "select", "asyncio", "gc")
_BEFORE: Final[dict[str, tuple[ModuleType, dict[str, object]]]] = {}
_LIMIT: Final = sys.getrecursionlimit()
_LOOP: Final = f"{ENGINE}cli/signals.py", "_run"  # where the event loop begins and ends


def note_python() -> None:
    """Record what Python's own modules contain, once, before any code of a bench runs."""
    if _BEFORE:
        return
    found = ((name, sys.modules.get(name)) for name in _NAMES)
    _BEFORE.update({name: (module, {**vars(module)}) for name, module in found if module is not None})


def broken_by(error: BaseException) -> str:
    """Return what a bench's code broke, if that caused the error, else ""."""
    return ", ".join(_changes()) or _descriptor(error) or _loop(error)


def _changes() -> Iterator[str]:
    for name, (module, before) in _BEFORE.items():
        if name not in sys.modules:
            yield f"the module {name}"
        yield from (f"{name}.{each}" for each, value in before.items() if vars(module).get(each) is not value)
    if sys.getrecursionlimit() < _LIMIT:
        yield f"the recursion limit ({sys.getrecursionlimit()})"


def _descriptor(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, OSError) and error.errno == errno.EBADF:
            return "a descriptor that the event loop or otf had open"
        error = error.__cause__ or error.__context__
    return ""


def _loop(error: BaseException) -> str:
    """Return "the event loop" if it ended or could not be closed while no code of otf was running in it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [(frame.filename, frame.name) for frame in frames if frame.filename.startswith(ENGINE)]
    return "the event loop" if own and own[-1] == _LOOP and frames[-1].filename != _LOOP[0] else ""
