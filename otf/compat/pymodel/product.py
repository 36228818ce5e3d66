"""The product of PyModel's models, by its rules: a shared action happens in all its parts at once; and its loading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product as every
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from otf.compat.pymodel.modules import Modules
from otf.compat.pymodel.parts import SUITE_NAMES, Args, Chosen, Effect, FiniteMachine, NamedArguments, Part, RunSuite
from otf.compat.pymodel.program import ModelProgram
from otf.errors import UsageError
from otf.explore import Graph, explore
from otf.notations import Call
from otf.spec import Spec, Transition


class Joint(tuple[Any, ...]):
    """The states of several parts."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the states, separated by semicolons."""
        return "; ".join(map(repr, self))


class Composition(Spec[Any, Call]):
    """Models of PyModel as one spec, which `load` makes from PyModel's modules.

    The inputs of the spec are the models' controllable actions. The outputs of the spec are the results of actions, and
    the observable actions. A shared action happens only if all models that share it enable it, with equal arguments and
    results. If a model gives no arguments or no result for an action, the model accepts any. If one of the models is
    nondeterministic, the composition is nondeterministic too.

    The `parts` are the models of the composition. The `sources` are the texts of the models' modules. The `actions` are
    the names of all actions. The `observed` actions are those that the system does by itself. The `cleanup` actions are
    those that end a path. `runs` contains one composition for each run in PyModel's test suites. `accepting(state)`
    returns whether a path may end in this state, and `safe(state)` whether the models' invariants hold there.

    >>> from otf.compat.pymodel import lamp, load
    >>> composition = load(lamp.__file__).spec
    >>> start = composition.initial
    >>> composition.inputs(start), composition.accepting(start), composition.safe(start)
    ([switch()], True, True)
    >>> composition.specifies(start, composition.inputs(start)[0])
    True
    """

    def __init__(self, parts: Sequence[Part], sources: Sequence[str] = ()) -> None:
        # the text of its modules: a trace records whether the model changed
        self.sources: tuple[str, ...] = tuple(sources)
        self.parts: tuple[Part, ...] = tuple(parts)
        self.actions: tuple[str, ...] = tuple(dict.fromkeys(name for part in parts for name in part.actions))
        self.observed: frozenset[str] = frozenset().union(*(part.observed for part in parts)).intersection(self.actions)
        self.cleanup: frozenset[str] = frozenset().union(*(part.cleanup for part in parts))
        self._alone = len(parts) == 1
        self._owners = {name: [at for at, part in enumerate(parts) if name in part.actions] for name in self.actions}
        initial = parts[0].initial if self._alone else Joint(part.initial for part in parts)
        emits = self._emits if self.observed else None
        super().__init__(self._step, initial, self._inputs, emits, name=" x ".join(part.name for part in parts))

    @cached_property
    def runs(self) -> tuple[Composition, ...]:
        """Return one composition for each run of the test suites; without test suites, return only this composition.

        The n-th composition has the n-th run of each suite.
        """
        suites = [part for part in self.parts if isinstance(part, RunSuite)]
        if not suites:
            return (self,)
        runs = (
            [part.only(number) if isinstance(part, RunSuite) else part for part in self.parts]
            for number in range(min(map(len, suites)))
        )
        return tuple(Composition(parts, self.sources) for parts in runs)

    def accepting(self, state: Any) -> bool:  # noqa: ANN401 -- any state
        """Return whether every model allows a path to end in this state."""
        return all(part.accepting(own) for part, own in zip(self.parts, self.split(state), strict=True))

    @property
    def invariant(self) -> Callable[[Any], bool] | None:
        """Return `safe` if a model has invariants, else None."""
        return self.safe if any(part.guarded for part in self.parts) else None

    def safe(self, state: Any) -> bool:  # noqa: ANN401 -- any state
        """Return whether the state invariants of all models hold."""
        return all(part.safe(own) for part, own in zip(self.parts, self.split(state), strict=True))

    def split(self, state: Any) -> Sequence[Any]:  # noqa: ANN401 -- any state
        """Return the states of the single models."""
        return (state,) if self._alone else state

    def effects(self, state: Any, name: str, args: Args, *, filtered: bool = True) -> Iterator[Effect]:  # noqa: ANN401 -- any state
        """Yield each possible result of an action, with the next state."""
        if self._alone:
            yield from self.parts[0].effects(state, name, args, filtered=filtered) if name in self.actions else ()
            return
        owners = self._owners.get(name, [])
        rows = [list(self.parts[at].effects(state[at], name, args, filtered=filtered)) for at in owners]
        for ways in every(*rows) if rows else ():
            # a free effect matches any result
            results = [way.result for way in ways if not way.free]
            if all(result == results[0] for result in results):
                after = list(state)
                for at, way in zip(owners, ways, strict=True):
                    after[at] = way.state
                yield Effect(results[0] if results else None, Joint(after))

    def enabled(self, state: Any, *, observed: bool) -> Iterator[NamedArguments]:  # noqa: ANN401 -- any state
        """Yield the enabled actions of a state: observable actions if `observed` is true, else the other actions."""
        parts = list(zip(self.parts, self.split(state), strict=True))
        offered = [dict[str, dict[Args, None]]() for _ in parts]
        for table, (part, own) in zip(offered, parts, strict=True):
            for name, args in part.offers(own):
                table.setdefault(name, {})[args] = None
        for name in self.actions:
            if (name in self.observed) is observed:
                yield from ((name, args) for args in self._agreed(name, offered))

    def _agreed(self, name: str, offered: Sequence[dict[str, dict[Args, None]]]) -> Iterator[Args]:
        owners = self._owners[name]
        for args in dict.fromkeys(args for at in owners for args in offered[at].get(name, ())):
            # a part that observes the action accepts the arguments of the others
            if all(
                name in self.parts[at].observed or args in (own := offered[at].get(name, {})) or () in own
                for at in owners
            ):
                yield args

    def _inputs(self, state: Any) -> list[Call]:  # noqa: ANN401 -- any state
        if self._alone:
            return [Call(*named) for named in self.parts[0].offers(state) if named[0] not in self.observed]
        return [Call(*named) for named in self.enabled(state, observed=False)]

    def _step(self, state: Any, call: Call) -> list[Transition[Any]]:  # noqa: ANN401 -- any state
        if call.name in self.observed:
            return []
        return [plainly(then) for then in self.effects(state, call.name, call.arguments)]

    def _emits(self, state: Any) -> Iterator[Transition[Any]]:  # noqa: ANN401 -- any state
        for named in self.enabled(state, observed=True):
            for then in self.effects(state, *named):
                yield Transition(then.state, (Call(*named),))


def plainly(then: Effect) -> Transition[Any]:
    """Return an effect as a transition; no result means no output."""
    return Transition(then.state, () if then.result is None else (then.result,))


class Numbers(NamedTuple):
    """The numbers that PyModel's analyzer prints after it explores a model.

    The explored model has `states` states and `transitions` transitions. `accepting` counts the states in which a path
    may end, and `unsafe` counts the states in which an invariant is false. `finished` counts the states without a
    transition in which a path may end. `dead_ends` counts the states without a transition in which a path may not end.
    `whole` is true if the exploration saw every state.

    >>> Numbers(2, 2, accepting=2, unsafe=0, finished=0, dead_ends=0, whole=True).states
    2
    """

    states: int
    transitions: int
    accepting: int
    unsafe: int
    finished: int
    dead_ends: int
    whole: bool


def count_states(spec: Composition, limit: int = 100_000) -> Numbers:
    """Explore a composition, and count its states and transitions; for test suites, add up the counts of all runs.

    `limit` is the most states to visit. Raises UsageError for a limit below 1, and ModelError for a broken model.

    >>> from otf.compat.pymodel import lamp, load
    >>> count_states(load(lamp.__file__).spec)
    Numbers(states=2, transitions=2, accepting=2, unsafe=0, finished=0, dead_ends=0, whole=True)
    """
    each = [_numbers(run, explore(run, limit)) for run in spec.runs]
    sums = [sum(column) for column in zip(*(numbers[:6] for numbers in each), strict=True)]
    return Numbers(*sums[:6], all(numbers.whole for numbers in each))  # type: ignore[arg-type,call-arg] # there are six


def _numbers(spec: Composition, graph: Graph) -> Numbers:
    ends = [spec.accepting(state) for state in graph.values]
    left = {arc.source for arc in graph.arcs()}.union(graph.edge)
    stuck = [number for number in range(len(ends)) if number not in left]
    unsafe = sum(not spec.safe(state) for state in graph.values)
    finished = sum(ends[number] for number in stuck)
    size = len(graph.values), len(graph.target)
    return Numbers(*size, sum(ends), unsafe, finished, len(stuck) - finished, graph.whole)


CONFIG = "PYMODEL CONFIG"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Modules of PyModel that `load` has loaded.

    The `spec` is the product of the `modules`. The `notes` say where PyModel and otf may treat these modules
    differently.

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

    Each of the `references` is the name of a module in `folder`, or the path of a file. `load` also searches the folder
    of a file that is given by its path. `include` and `exclude` name actions, like PyModel's options `-a` and `-e`.
    `load` imports the modules anew at each call, so their code runs. `load` raises UsageError, with the file and line,
    for a module that it cannot load; the message says so if the module is written for Python 2.

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
    # importing a configuration changes other modules, so import all before examining any
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
    """Return the names of all actions, before any is left out."""
    everything = Chosen()
    return {name for module in modules if not _is_config(module) for name in _part("", module, everything).actions}
