"""PyModel's modules as the command line names them: `pymodel:Stack,StackDepthThree@Stepper`.

The stepper is part of the name and no parameter: a trace records parameters, and may not choose what is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Final

from otf.adapter import Bench
from otf.compat.pymodel.bench import TIMEOUT, bench
from otf.compat.pymodel.driving import Waits
from otf.errors import UsageError

PREFIX: Final = "pymodel:"


def as_module(reference: str) -> ModuleType:
    """Return a module with the `bench` that a name such as `pymodel:MODEL,MODEL@STEPPER` stands for.

    Nothing of the user is imported until the bench is made.
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
            include=_words(include),
            exclude=_words(exclude),
            timeout=timeout or None,
            waits=Waits(brief, long),
            ordered=ordered,
        )

    return make


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]
