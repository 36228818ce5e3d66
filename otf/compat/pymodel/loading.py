"""From modules to a spec: loading finds which kind of model each is and makes their product, also of a live system.

Behind a live system observations may have any arguments, and sometimes one has to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.parts import SUITE_NAMES, Chosen, Effect, FiniteMachine, Part, RunSuite
from otf.compat.pymodel.product import Composition, plainly
from otf.compat.pymodel.program import ModelProgram
from otf.errors import UsageError
from otf.notations import Call
from otf.spec import Accept, Spec, Transition
from otf.values import key

CONFIG = "PYMODEL CONFIG"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Loaded modules of PyModel: their product as a spec, and `notes` about where PyModel and otf may differ.

    >>> from otf.compat.pymodel import lamp
    >>> load(lamp.__file__).notes
    ()
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

    >>> from otf.compat.pymodel import lamp
    >>> loaded = load(lamp.__file__)
    >>> loaded.spec.name, loaded.spec.actions
    ('lamp', ('switch',))
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


class Live(Spec[Any, Call]):
    """The spec of a system behind a stepper.

    Only its enabler judges an observable action, whatever its domain has. In a state where the model enables no other
    action, and a run may not end, an observation has to come: silence is a failure.

    Unless they are `ordered`, each observable action has a port of its own, so that different ones may overtake each
    other: the threads of a stepper put them into its queue in any order.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.compat.pymodel import load
    >>> bell = '''
    ... def ring(): pass
    ... state = ()
    ... actions = observables = (ring,)
    ... accepting = lambda: False
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "Bell.py").write_text(bell)
    ...     live = Live(load("Bell", folder=folder).spec, ordered=False)
    >>> live.ports, live.must(live.initial)
    (('ring',), True)
    """

    def __init__(self, composition: Composition, *, ordered: bool = True) -> None:
        self.composition = composition
        self.sources: tuple[str, ...] = composition.sources
        self.ports: tuple[str, ...] = () if ordered else tuple(sorted(composition.observed))
        base = composition
        emits = self._emits if base.observed else None
        super().__init__(self._step, base.initial, base.inputs, emits, name=base.name)

    @property
    def accepting(self) -> Any:  # noqa: ANN401 -- a function of any state
        """Return the function that is true of states in which a run may end."""
        return self.composition.accepting

    @property
    def invariant(self) -> Any:  # noqa: ANN401 -- as above
        """Return the function that is true of states in which the invariants hold, None if there are none."""
        return self.composition.invariant

    def observe(self, states: Iterable[Any], output: object) -> list[Any]:
        """Return the states after an observation, none if it is not enabled."""
        if not isinstance(output, Call) or output.name not in self.composition.observed:
            return []
        ways = (self.composition.effects(state, output.name, output.arguments, filtered=False) for state in states)
        return list({key(then.state): then.state for each in ways for then in each}.values())

    def must(self, state: Any) -> bool:  # noqa: ANN401 -- any state
        """Return whether an observation has to come: no other action is enabled, and a run may not end here."""
        base = self.composition
        if not base.observed or base.accepting(state):
            return False
        tries = base.enabled(state, observed=False)
        return not any(True for named in tries for _ in base.effects(state, *named))

    def _step(self, state: Any, call: Call) -> Iterator[Transition[Any] | Accept]:  # noqa: ANN401 -- any state
        if call.name not in self.composition.observed:
            for then in self.composition.effects(state, call.name, call.arguments):
                # an `Accept` is about one port, and a result comes on another: the two cannot be one transition
                if self.must(then.state) and (then.result is None or not self.ports):
                    yield from self._awaiting(then)
                else:
                    yield plainly(then)

    def _emits(self, state: Any) -> Iterator[Accept]:  # noqa: ANN401 -- any state
        yield from self._awaiting(Effect(None, state))

    def _awaiting(self, then: Effect) -> Iterator[Accept]:
        after = partial(self._after, then)

        def complete(seen: tuple[Any, ...]) -> bool:
            states = after(seen)
            return bool(self.ports) or not states or not all(map(self.must, states))

        for port in self.ports or ("",):
            yield Accept(after, port=port, until=complete)

    def _after(self, then: Effect, seen: tuple[Any, ...]) -> list[Any]:
        if then.result is not None:
            if not seen or key(seen[0]) != key(then.result):
                return []
            seen = seen[1:]
        states = [then.state]
        for output in seen:
            states = self.observe(states, output)
        return states
