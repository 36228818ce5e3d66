"""A bench: a spec, its ports and codec, how to start and stop the system, its input mode and its times."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from typing import Any, Final

from otf.adapter.known_issue import KnownIssue
from otf.adapter.life import Life, living
from otf.adapter.line import Line
from otf.codec import Codec
from otf.core import Barrier, InputMode, Limits, Model, Oracle, Relation, Routes
from otf.core.timing import Learnt, Timing
from otf.errors import ModelError, OtfError, UsageError
from otf.simulate.walk import Act
from otf.spec import Spec, total
from otf.trace.events import Event
from otf.values import show

Opener = Callable[[], AbstractAsyncContextManager[Line]]
Connect = Callable[[], AbstractAsyncContextManager[Mapping[str, Line]]]

SYSTEM: Final = "system"  # the port of a system in this process
FOREVER: Final = float("inf")
FIRST: Final = 0.1  # seconds of silence that are believed before anything is learnt


@dataclass(frozen=True)
class Bench:
    """All that is needed to test one system.

    `ports` maps names to adapters, opened in this order for every path and closed in reverse; `connect` does the same
    in one function where one port needs what another brings; `life` says how the system is started, reset and examined
    around that. `outputs` names the ports that bring outputs (default:
    all). A system that is a Python object needs neither ports nor codec: `system` makes a fresh function from an input
    to its outputs for every path, and `types` are the types of its outputs.

    Times are seconds: `quiescence` (None: learnt from how fast the system answers), `latency` (L, the bound of one way
    through any port), `busy` (R, the bound of the time for one input); with a `barrier` quiescence is asked for instead
    of waited for. `inputs` says what is offered by default:
    `uioco` (what every possible state specifies), `any`, `all`, or `mixed`. `faults` names the values of the parameter
    `fault` that `otf mutants` tries. `known_issues` are failures that are known; `foreign` makes an event of a line
    (decoded JSON) of a log that otf did not write, or None.
    """

    spec: Spec[Any, Any]
    _: KW_ONLY
    codec: Codec | None = None
    system: Callable[[], Act] | None = None
    types: tuple[type, ...] = ()
    ports: Mapping[str, Opener] = field(default_factory=dict[str, Opener])
    connect: Connect | None = None
    life: Life | None = None
    outputs: tuple[str, ...] = ()
    name: str = ""
    inputs: InputMode = "uioco"
    quiescence: float | None = None
    latency: float = 0.002
    busy: float = 0.002
    barrier: Barrier | None = None
    retries: int = 1
    limits: Limits = field(default_factory=Limits)
    faults: Mapping[str, str] = field(default_factory=dict[str, str])
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])
    known_issues: tuple[KnownIssue, ...] = ()
    foreign: Callable[[Any], Event | None] | None = None

    def __post_init__(self) -> None:
        """Refuse a bench without a way to its system, or with times that are none."""
        for name in ("quiescence", "latency", "busy"):
            seconds: float | None = getattr(self, name)
            # not `seconds < 0`: compared with NaN everything is false, and no silence would ever be long enough
            if seconds is not None and not 0 <= seconds < FOREVER:
                raise UsageError(f"{name}={seconds}: a number of seconds is needed, 0 or more")
        if self.system is None and self.codec is None:
            message = "a bench needs a codec and ports, or a system in this process"
            raise UsageError(f"{message}: Bench(spec, system=lambda: Machine().step)")

    @property
    def known_types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs, so that traces can be read back."""
        if self.codec is not None:
            return (*self.codec.types, *self.types)
        offered: Iterable[object] = self.spec.inputs(self.spec.initial)
        return (*dict.fromkeys(type(inp) for inp in offered), *self.types)

    @cached_property
    def timing(self) -> Timing:
        """Return the times of the bench; one object, so that what is learnt in one path serves the next."""
        if self.quiescence is None:
            return Learnt(FIRST, self.latency, self.busy)
        return Timing(self.quiescence, self.latency, self.busy)

    def oracle(self) -> Oracle:
        """Return the oracle that judges this bench in its input mode."""
        judged = total(self.spec) if self.inputs in {"all", "mixed"} else self.spec
        relation: Relation = "any" if self.inputs == "any" else "uioco"
        return Oracle(Model(judged, Routes(self._output_ports, self.port)), relation, self.limits, self.timing)

    @property
    def _output_ports(self) -> tuple[str, ...]:
        return self.outputs or tuple(self.ports) or ((SYSTEM,) if self.system is not None else ())

    def port(self, value: object) -> str:
        """Return the port of a value, by the codec, or the only one there is. Raises ModelError where that raises."""
        if self.codec is None:
            return next(iter(self.outputs), SYSTEM)
        try:
            named = self.codec.port(value)
        except OtfError:
            raise
        except Exception as error:
            message = f"the codec raised on the port of {show(value)}: {type(error).__name__}: {error}"
            raise ModelError(message) from error
        if not isinstance(named, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- a codec of the user's may give anything
            message = f"the codec gave {show(named)} as the port of {show(value)}; a port is a name"
            raise ModelError(message)
        if named or not self.ports:
            return named
        if len(self.ports) == 1:
            return next(iter(self.ports))
        message = f"the codec does not tell the port of {show(value)}; the bench has {', '.join(self.ports)}"
        raise UsageError(message)

    def open(self) -> AbstractAsyncContextManager[Mapping[str, Line]]:
        """Start a fresh copy of the system and return its lines by port; leaving the context stops it."""
        connect = self.connect if self.connect is not None else partial(_compose, self.ports)
        return connect() if self.life is None else living(self.life, connect)


@asynccontextmanager
async def _compose(ports: Mapping[str, Opener]) -> AsyncGenerator[Mapping[str, Line], None]:
    async with AsyncExitStack() as stack:
        yield {name: await stack.enter_async_context(opener()) for name, opener in ports.items()}
