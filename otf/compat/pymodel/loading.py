"""Loading: finds which kind of model each module is, and makes the product of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.parts import SUITE_NAMES, Chosen, FiniteMachine, Part, RunSuite
from otf.compat.pymodel.product import Composition
from otf.compat.pymodel.program import ModelProgram
from otf.errors import UsageError

CONFIG = "PYMODEL CONFIG"


@dataclass(frozen=True, slots=True)
class Loaded:
    r"""Loaded modules of PyModel: their product as a spec, and `notes` about where PyModel and otf may differ.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "Idle.py").write_text("def wait(): pass\nstate, actions = (), (wait,)")
    ...     loaded = load("Idle", folder=folder)
    >>> loaded.spec.name, loaded.notes
    ('Idle', ())
    """

    spec: Composition
    modules: Modules
    notes: tuple[str, ...] = ()


def load(
    *references: str, folder: str | Path = ".", include: Iterable[str] = (), exclude: Iterable[str] = ()
) -> Loaded:
    """Load modules of PyModel and return their product: model programs, machines, suites, configurations.

    Each reference is the name of a module in `folder`, or the path of a file, whose folder is then searched as well.
    Every call loads the modules anew. `include` and `exclude` name actions, as `-a` and `-e` of PyModel do. The modules
    are imported, so their code runs. Raises UsageError, with file and line, for a module that cannot be loaded; if
    it is written for Python 2, the message says so.

    >>> from tempfile import TemporaryDirectory
    >>> lamp = '''
    ... on = False
    ... def switch():
    ...     global on
    ...     on = not on
    ... state = ("on",)
    ... actions = (switch,)
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "Lamp.py").write_text(lamp)
    ...     loaded = load("Lamp", folder=folder)
    >>> loaded.spec.name, loaded.spec.actions
    ('Lamp', ('switch',))
    """
    if not references:
        raise UsageError("load(): give at least one module of PyModel")
    modules = Modules([Path(folder)])
    found = {Path(each).stem: modules.load(each) for each in references}
    chosen = Chosen(frozenset(include), frozenset(exclude))
    # configurations change other modules when they are imported, so all are imported before any is examined
    parts = [_part(name, module, chosen) for name, module in found.items() if not _is_config(module)]
    if not parts:
        raise UsageError(f"{', '.join(references)}: configurations are not models; name the model that they configure")
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
        f"{module.__file__}: this is not a model of PyModel: {kinds}, a configuration begins with 'pymodel config'"
    )


def _names(modules: Iterable[ModuleType]) -> set[str]:
    """Return the names of all actions before any is left out."""
    everything = Chosen()
    return {name for module in modules if not _is_config(module) for name in _part("", module, everything).actions}
