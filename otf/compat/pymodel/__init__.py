"""PyModel's modules, unchanged: model programs, finite machines, test suites and steppers as specs and benches.

On the command line, `pymodel:Stack,StackDepthThree@Stepper` names two modules and the stepper, which is PyModel's code
that drives the system. The stepper is part of the bench's name and not a parameter, because a trace records the
parameters of its bench and must not decide which code otf imports.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from otf.adapter import Bench
from otf.adapter.bench import SYSTEM
from otf.compat.pymodel.apart import TYPES, Stepper, StepperProcess
from otf.compat.pymodel.driving import Driven, Live, StepperFailed, Waits
from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.product import Composition, Loaded, Numbers, count_states, load
from otf.compat.pymodel.strategy import selecting, tidying
from otf.core.walk import Act
from otf.errors import CodecError, UsageError
from otf.notations import Call
from otf.simulate.system import acting

TIMEOUT = 10.0  # seconds for one action
PREFIX: Final = "pymodel:"


@dataclass(frozen=True)
class Apiece:
    """The codec of a system in this process in which each observable action has its own port.

    Because of the separate ports, the model leaves the order of different observable actions open.
    """

    ports: tuple[str, ...]
    types: tuple[type, ...]

    def port(self, value: object) -> str:
        """Return the port of a value: the name of an observable action, or one port for everything else."""
        return value.name if isinstance(value, Call) and value.name in self.ports else SYSTEM

    def encode(self, value: object) -> bytes:
        """Refuse: nothing is sent as bytes."""
        raise CodecError(f"{value!r} cannot be sent: the system is in this process")

    def decode(self, port: str, data: bytes) -> object:
        """Refuse: nothing arrives as bytes."""
        raise CodecError(f"{data!r} cannot arrive on {port}: the system is in this process")


def bench(  # noqa: PLR0913 -- what PyModel takes as options are arguments, each with its name
    *references: str,
    stepper: str | None = None,
    folder: str | Path = ".",
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    timeout: float | None = TIMEOUT,
    waits: Waits | None = None,
    ordered: bool | None = None,
) -> Bench:
    """Return a bench made from PyModel's modules, and from the stepper that drives the system.

    See `load` for the names of modules, and for `include` and `exclude`. If there is no stepper, the model takes the
    place of the system. otf starts the stepper in a new process for each path, and kills this process when an action
    takes longer than `timeout` seconds. With `timeout=None`, one stepper runs in this process for all paths, which is
    faster; otf calls the stepper's `Reset` before each path except the first. `waits` says how long to wait for the
    observations of a stepper that sets `asynch`. `ordered` is true if different observable actions arrive in the order
    in which they happened (default: true unless the stepper's file contains the word `asynch`). `bench` imports the
    modules, so their code runs.

    >>> from otf.compat.pymodel import lamp
    >>> bench(lamp.__file__).name
    'lamp'
    """
    loaded = load(*references, folder=folder, include=include, exclude=exclude)
    for note in loaded.notes:
        warnings.warn(note, stacklevel=2)
    if stepper is None:
        return Bench(loaded.spec, system=acting(loaded.spec), types=(*TYPES, StepperFailed), name=loaded.spec.name)
    if timeout is not None and timeout <= 0:
        raise UsageError(f"timeout={timeout}: a positive number of seconds is needed")
    if ordered is None:
        # threads may observe: read the file, since running it might start the system
        ordered = "asynch" not in loaded.modules.file(stepper).read_text(encoding="utf-8", errors="replace")
    make = _Makes(Live(loaded.spec, ordered=ordered), loaded, stepper, waits or Waits())
    system = make.here if timeout is None else lambda: make.apart(timeout)
    types = (*TYPES, StepperFailed)
    if not make.spec.ports:
        return Bench(make.spec, system=system, types=types, name=loaded.spec.name)
    outputs = (SYSTEM, *make.spec.ports)
    codec = Apiece(make.spec.ports, types)
    return Bench(make.spec, system=system, codec=codec, outputs=outputs, name=loaded.spec.name)


class _Makes:
    """Makes the system for each path."""

    def __init__(self, spec: Live, loaded: Loaded, stepper: str, waits: Waits) -> None:
        self.spec = spec
        self._folders = tuple(loaded.modules.folders)
        self._reference = stepper
        self._waits = waits
        self._idle: list[Stepper] = []
        self._paths = 0

    def here(self) -> Act:
        """Return a system behind a stepper in this process that no other path is using."""
        if self._idle:
            stepper = self._idle.pop()
            stepper.reset()
        else:
            stepper = Stepper(Modules(self._folders, seed=None), self._reference)
        driven = Driven(self.spec, stepper, self._waits)
        weakref.finalize(driven, self._idle.append, stepper)
        return driven

    def apart(self, timeout: float) -> Act:
        """Return a system behind a stepper in its own process, which ends with the path."""
        self._paths += 1
        stepper = StepperProcess(self._reference, self._folders, timeout)
        if self._paths > 1:
            stepper.reset()
        return Driven(self.spec, stepper, self._waits)


def as_module(reference: str) -> ModuleType:
    """Return a module whose function `bench` makes the bench of a name such as `pymodel:MODEL,MODEL@STEPPER`.

    otf imports your files only when you call `bench`.
    """
    models, _, stepper = reference.removeprefix(PREFIX).partition("@")
    names = [name for name in models.split(",") if name]
    if not names:
        raise UsageError(f"{reference}: write {PREFIX}MODEL[,MODEL…][@STEPPER], each a name or the path of a file")
    module = ModuleType(reference, f"PyModel's {', '.join(names)}")
    vars(module).update(__file__=reference, bench=_maker(names, stepper or None))
    return module


def _maker(names: list[str], stepper: str | None) -> Callable[..., Bench]:
    def make(  # noqa: PLR0913, PLR0917 -- the parameters of a bench are arguments, each with its name
        include: str = "",
        exclude: str = "",
        timeout: float = TIMEOUT,
        brief: float = Waits.brief,
        long: float = Waits.long,
        ordered: bool | None = None,  # noqa: FBT001 -- a parameter of a bench has a name
    ) -> Bench:
        return bench(
            *names,
            stepper=stepper,
            include=filter(None, include.split(",")),
            exclude=filter(None, exclude.split(",")),
            timeout=timeout or None,
            waits=Waits(brief, long),
            ordered=ordered,
        )

    return make


__all__ = [
    "Composition",
    "Live",
    "Loaded",
    "Numbers",
    "StepperFailed",
    "Waits",
    "bench",
    "count_states",
    "load",
    "selecting",
    "tidying",
]
