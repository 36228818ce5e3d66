"""Loading: which kind of model each module is, and the product of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from otf.compat.pymodel.machines import SUITE_NAMES, FiniteMachine, RunSuite
from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.parts import Chosen, Part
from otf.compat.pymodel.product import Composition
from otf.compat.pymodel.program import ModelProgram
from otf.errors import UsageError

CONFIG = "PYMODEL CONFIG"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Modules of PyModel: their product as a spec, and what is worth knowing of them."""

    spec: Composition
    modules: Modules
    notes: tuple[str, ...] = ()


def load(
    *references: str, folder: str | Path = ".", include: Iterable[str] = (), exclude: Iterable[str] = ()
) -> Loaded:
    """Load modules of PyModel as they are and return their product: models, machines, suites, configurations.

    Each is a name that is looked for in `folder`, or the path of a file, whose folder is searched then as well. Every
    call loads them anew. `include` and `exclude` name actions, as `-a` and `-e` of PyModel do. The modules are
    imported, so their code runs. Raises UsageError for one that cannot be loaded; one of Python 2 is called that.
    """
    if not references:
        raise UsageError("load(): give at least one module of PyModel")
    modules = Modules([Path(folder)])
    found = {Path(each).stem: modules.load(each) for each in references}
    chosen = Chosen(frozenset(include), frozenset(exclude))
    # configurations change the others when they are imported: only then is it looked what these say
    parts = [_part(name, module, chosen) for name, module in found.items() if not _is_config(module)]
    if not parts:
        raise UsageError(
            f"{', '.join(references)}: configurations alone are no model; name the model that they configure"
        )
    notes = [note for part in parts if isinstance(part, ModelProgram) for note in part.notes]
    spec = Composition(parts, modules.sources())
    unknown = [name for name in chosen.include | chosen.exclude if name not in _names(found.values())]
    if unknown:
        raise UsageError(f"there is no action {unknown[0]!r}; there are {', '.join(sorted(_names(found.values())))}")
    return Loaded(spec, modules, tuple(notes))


def _is_config(module: ModuleType) -> bool:
    return (module.__doc__ or "").strip().upper().startswith(CONFIG)


def _part(name: str, module: ModuleType, chosen: Chosen) -> Part:
    if hasattr(module, "graph"):
        return FiniteMachine(name, module, chosen)
    if any(hasattr(module, each) for each in SUITE_NAMES):
        return RunSuite(name, module, chosen)
    if hasattr(module, "state") and hasattr(module, "actions"):
        return ModelProgram(name, module, chosen)
    kinds = "a model program has `state` and `actions`, a machine `graph`, a suite `testSuite`"
    raise UsageError(
        f"{module.__file__}: this is no model of PyModel: {kinds}, a configuration begins with 'pymodel config'"
    )


def _names(modules: Iterable[ModuleType]) -> set[str]:
    """Return the names of all actions before any is left out."""
    everything = Chosen()
    return {name for module in modules if not _is_config(module) for name in _part("", module, everything).actions}
