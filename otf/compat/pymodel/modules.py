"""Modules of one instance: PyModel keeps states in modules, so two instances must not share a module.

If a module cannot be loaded because it is written for Python 2, the error says so.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import random
import re
import sys
import traceback
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, Final

from otf.errors import OtfError, UsageError
from otf.values.loading import AsWritten

QUEUE: Final = "observation_queue"
TOOL: Final = "pymodel"
OLD_SYNTAX: Final = re.compile(
    r"^\s*(?:print|exec)\s+[^(=\s]|^\s*(?:except|raise)\s+[\w.]+\s*,|<>|`[^`]+`|\b0\d+\b|\b\d+L\b|\bur['\"]|use of tabs"
)
GONE: Final = re.compile(
    "basestring|cmp|execfile|long|raw_input|reduce|reload|unichr|unicode|xrange|"
    "ConfigParser|Queue|StringIO|cPickle|cookielib|httplib|urllib2|urlparse"
)
CONVERT: Final = "convert it (PyModel's fork zlorb/PyModel has done so)"


def python2(error: BaseException, file: Path) -> str:
    """Return the message for a module whose import raised this error."""
    if isinstance(error, SyntaxError):
        where, text = _where(error.filename, file, error.lineno), (error.text or "").strip()
        if OLD_SYNTAX.search(text) or OLD_SYNTAX.search(error.msg or ""):
            return f"{where}: this is Python 2: {text}; {CONVERT}"
        return f"{where}: {error.msg}: {text}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    where = _where(str(file), file, lines[-1] if lines else None)
    # Python 3 parses the statement `print >>file, text` as a shift
    if GONE.fullmatch(str(getattr(error, "name", ""))) or "for >>: 'function'" in str(error):
        return f"{where}: this is Python 2: {error}; {CONVERT}"
    if isinstance(error, SystemExit):
        return f"{where}: it ended the program (exit {error.code!r}) when it was imported"
    return f"{where}: {type(error).__name__}: {error}"


def _where(name: str | None, file: Path, line: int | None) -> str:
    return f"{name or file}" + (f", line {line}" if line else "")


_INSTANCES: Final = count(1)


class Modules:
    """Modules of PyModel, found by name in `folders`; each `Modules` object loads its own copy of a module, once.

    otf imports packages and installed modules as usual, without a copy. Steppers import `observations` as
    `pymodel.observation_queue`. If a module draws random numbers with Python's `random`, they come from the generator
    `random`, which `seed` makes repeatable unless it is None.
    """

    def __init__(self, folders: Iterable[Path] = (), seed: int | None = 0) -> None:
        self.folders = list(dict.fromkeys(folders))
        self.loaded: dict[str, ModuleType] = {}
        self.observations = ModuleType(QUEUE, "The queue of observed actions, and whether the stepper waits for them.")
        vars(self.observations).update(queue=deque[Any](), asynch=False)
        # the choices of a model or strategy must not depend on other random numbers drawn in this process
        self.random: Random = Random(seed)
        self._drawing = ModuleType("random")
        vars(self._drawing).update({name: getattr(self.random, name, each) for name, each in vars(random).items()})
        self._tool = ModuleType(TOOL)
        vars(self._tool)[QUEUE] = self.observations
        self._builtins = {**vars(builtins), "__import__": self._import, "print": _print}
        self._prefix = f"otf_{TOOL}_{next(_INSTANCES)}_"

    def load(self, reference: str) -> ModuleType:
        """Return the module of that name, or in that file. Raises UsageError, with file and line, if it fails."""
        file = self.file(reference)
        return self._module(file.stem, file)

    def file(self, reference: str) -> Path:
        """Return the file of a module, and search its folder from now on. Raises UsageError if there is none."""
        path = Path(reference)
        if path.suffix != ".py" and not reference.isidentifier():
            raise UsageError(f"{reference!r} is not a module: give the path of a file (….py), or the name of one")
        name = path.stem
        if path.suffix == ".py":
            self._look_in(path.parent)
        file = path if path.suffix == ".py" else self._file(name) or _installed(name)
        if file is None or not file.is_file():
            where = ", ".join(map(str, self.folders)) or "no folder"
            raise UsageError(f"{reference}: there is no such file; modules are looked for in {where}")
        self._look_in(file.parent)
        return file

    def sources(self) -> list[str]:
        """Return the text of every module loaded so far."""
        files = [Path(str(module.__file__)) for _, module in sorted(self.loaded.items())]
        return [file.read_text(encoding="utf-8", errors="replace") for file in files]

    def _look_in(self, folder: Path) -> None:
        if folder not in self.folders:
            self.folders.append(folder)

    def _file(self, name: str) -> Path | None:
        return next((file for folder in self.folders if (file := folder / f"{name}.py").is_file()), None)

    def _module(self, name: str, file: Path) -> ModuleType:
        if name not in self.loaded:
            self.loaded[name] = self._executed(name, file)
        return self.loaded[name]

    def _executed(self, name: str, file: Path) -> ModuleType:
        whole = f"{self._prefix}{name}"
        spec = importlib.util.spec_from_file_location(whole, file, loader=AsWritten(whole, str(file.absolute())))
        if spec is None or spec.loader is None:
            raise UsageError(f"{file}: this is not a Python file")
        module = importlib.util.module_from_spec(spec)
        # dataclasses look up their module by name during loading, and modules may import each other in a circle
        sys.modules[spec.name] = self.loaded[name] = module
        vars(module)["__builtins__"] = self._builtins
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            del self.loaded[name]
            if isinstance(error, KeyboardInterrupt | OtfError):
                raise
            raise UsageError(python2(error, file)) from error
        finally:
            del sys.modules[spec.name]
        return module

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 -- as Python calls it
        locals: Mapping[str, object] | None = None,  # noqa: A002 -- as above
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level == 0:
            if name in {QUEUE, "random"} and name not in self.loaded and self._file(name) is None:
                return self.observations if name == QUEUE else self._drawing
            if name.partition(".")[0] == TOOL:
                return self._of_tool(name, fromlist)
            if name in self.loaded:
                return self.loaded[name]
            file = self._file(name)
            if file is not None:
                return self._module(name, file)
            for folder in map(str, self.folders):
                # at the end, so that a user's file never hides what otf itself imports later
                if folder not in sys.path:
                    sys.path.append(folder)
        return importlib.__import__(name, globals, locals, fromlist or (), level)

    def _of_tool(self, name: str, fromlist: tuple[str, ...] | None) -> ModuleType:
        if name == f"{TOOL}.{QUEUE}":
            return self.observations if fromlist else self._tool
        if name == TOOL:
            return self._tool
        raise ModuleNotFoundError(f"of PyModel itself there is only {TOOL}.{QUEUE} here, no {name}")


def _installed(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


def _print(*values: object, file: Any = None, **options: Any) -> None:  # noqa: ANN401 -- as `print` has it
    """Print to standard error: standard output belongs to the command that runs the model."""
    print(*values, file=sys.stderr if file is None else file, **options)
