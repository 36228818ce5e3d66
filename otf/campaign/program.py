"""A shrunk failure as a small Python program: a pytest test that shows it without a campaign."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from otf.adapter import Bench
from otf.campaign.literal import FILE, Literals, UnwritableError
from otf.campaign.results import PathResult
from otf.trace.events import Seen, Sent
from otf.trace.record import Header

SHIPPED: Final = "otf.models."


def program(bench: Bench, header: Header, failing: PathResult, tries: int) -> str | None:
    """Return the program's text; None where the bench cannot be named, or a value cannot be written as Python."""
    found = _found(header.bench)
    failure = failing.verdict.failure
    if found is None or failure is None:
        return None
    literals = Literals()
    try:
        made = _made(bench, *found, literals)
        steps = "".join(f"    ({inp}, [{', '.join(outputs)}]),\n" for inp, outputs in _steps(failing, literals))
    except UnwritableError:
        return None
    more = "".join(f", {name}={value}" for name, value in (("burst", header.burst), ("tries", tries)) if value > 1)
    return (
        f'"""{_plain(str(failure.signature))}\n\n'
        f"Shrunk by otf to {failing.steps} inputs. Run it with pytest: it fails as long as the failure is there.\n"
        f'"""\n\nfrom dataclasses import replace\n{literals.imports()}\n'
        f"STEPS = [  # each input, and what came of it when this was written\n{steps}]\n\n\n"
        f"def test_{_name(failure.kind, failure.signature.input)}() -> None:\n"
        f'    """Whatever comes of these inputs is what the model allows."""\n'
        f"    reproduce({made}, STEPS{more})\n"
    )


def _found(reference: str) -> tuple[ModuleType, str] | None:
    """Return the module that was loaded for a bench, and the bench's name in it."""
    where, _, name = reference.rpartition(":") if ":" in reference else (reference, "", "bench")
    names = (f"{FILE}{Path(where).stem}",) if where.endswith(".py") else (f"{SHIPPED}{where}", where)
    modules = (sys.modules.get(each) for each in names)
    return next(((module, name) for module in modules if module is not None and hasattr(module, name)), None)


def _made(bench: Bench, module: ModuleType, name: str, literals: Literals) -> str:
    """Return the expression that makes the bench."""
    made: Any = getattr(module, name)
    call = literals.name(module, name)
    if not isinstance(made, Bench):
        known = inspect.signature(made).parameters
        if not known.keys() <= bench.parameters.keys():
            raise UnwritableError(name)  # it was not made as the command line makes it: nobody knows how
        call += f"({', '.join(f'{key}={literals.of(bench.parameters[key])}' for key in known)})"
    given = {"inputs": bench.inputs, "quiescence": bench.quiescence, "latency": bench.latency, "busy": bench.busy}
    return f"replace({call}, {', '.join(f'{key}={value!r}' for key, value in given.items())})"


def _steps(failing: PathResult, literals: Literals) -> Iterator[tuple[str, list[str]]]:
    inp, outputs = "", list[str]()
    for event in failing.events:
        if isinstance(event, Sent):
            if inp:
                yield inp, outputs
            inp, outputs = literals.of(event.input), []
        elif isinstance(event, Seen) and inp:
            outputs.append(literals.of(event.output))
    yield inp, outputs


def _name(*parts: str) -> str:
    return re.sub(r"\W+", "_", "_".join(parts)).strip("_").lower()


def _plain(text: str) -> str:
    # names of types come from the bench; still, nothing may end the docstring
    return text.replace("\\", "/").replace('"', "'")
