"""A bench: a spec, its ports and codec, how to start and stop the system, its input mode and its times."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Unpack

from otf.adapter.bench_mistakes import (
    codec_refused,
    options_unknown,
    ports_refused,
    spec_refused,
    system_refused,
    values_refused,
)
from otf.adapter.bench_options import (
    Connect,
    KnownIssue,
    Opener,
    PortOptions,
    ProcessOptions,
    Silence,
    known_issue,
)
from otf.codec import Codec, types_of
from otf.core.timing import FIRST, Learnt, Timing
from otf.errors import ModelError, OtfError, UsageError, refuse
from otf.spec import Elapse, Requirements, Spec, at_speed, total
from otf.values import show
from otf.values.arguments import own_call
from otf.values.raised import blame

if TYPE_CHECKING:  # a model file needs none of it until it is run
    from otf.adapter.lifecycle import Life
    from otf.adapter.line import Line
    from otf.core import Barrier, InputMode, Limits, Oracle, Relation
    from otf.core.walk import Act
    from otf.temporal import Formula
    from otf.trace.events import Event
    from otf.trace.verdict import Failure

SYSTEM: Final = "system"  # the port of a system in this process
MANY: Final = 1_000  # inputs examined for their types


def _limits() -> Limits:
    from otf.core import Limits

    return Limits()


@dataclass(frozen=True)
class Bench:
    """A bench contains all that otf needs to test one system, such as the model, the codec, the ports and the times.

    Two constructors make benches: `Bench.on_ports` for a system behind sockets, serial ports or processes, and
    `Bench.in_process` for a Python object. `Bench(…)` itself takes the fields for both kinds of system.

    | field | default | meaning |
    |---|---|---|
    | `spec` | | the model |
    | `codec` | None | turns values into the bytes of a port and back |
    | `ports` | none | names, each with an adapter; each path opens them in this order, and closes them in reverse |
    | `connect` | None | instead of `ports`: opens all lines at once, if one port needs what another has opened |
    | `life` | None | how otf starts, resets and checks the system around each path |
    | `system` | None | instead of `ports`: makes, for each path, the function from an input to its outputs |
    | `types` | none | the types of the outputs of `system`, so that otf can read traces |
    | `outputs` | all ports | the names of the ports that carry outputs |
    | `name` | "" | the name of the bench in traces and reports |
    | `inputs` | "uioco" | which inputs otf tries: "uioco", what every possible state specifies; "any", "all", "mixed" |
    | `quiescence` | None | seconds of silence after which otf expects no output; None: otf learns it from the system |
    | `latency` | 0.002 | L: the longest time in seconds of a message through any port, one way |
    | `busy` | 0.002 | R: the longest time in seconds that the system takes for one input |
    | `barrier` | None | pings whose answers prove quiescence, so that otf need not wait for it |
    | `silence_key` | None | a function of state and input to the key of a silence in eager mode; None: both together |
    | `retries` | 1 | how often otf repeats a failed start of the system |
    | `pause` | 1.0 | how many seconds the system may have to wait between two inputs while otf plans |
    | `limits` | `Limits()` | how many possible states otf keeps; a path with more is inconclusive |
    | `mutants` | none | values of the parameter `fault` that `otf mutants` tries, each with a line of text |
    | `parameters` | none | the parameters that the bench was made with, for the trace |
    | `known_issues` | none | known failures: a campaign counts them and goes on |
    | `silence` | "observed" | how otf detects silence: "observed", from the system's processes, or "timed" |
    | `clients` | None | the ports whose clients may send at once; (): none; None: codec and addresses decide |
    | `pids` | none | processes of the system that the bench does not start and that hold none of its ports |
    | `requirements` | none | the table of requirements that the model refers to with `req=` |
    | `properties` | none | names, each with a property that every path must have: `always(…)` and the like |
    | `made_at` | here | the line of your code that makes the bench, for errors |
    | `malformed` | 0 | the share of inputs replaced by malformed bytes; see `with_malformed` |
    | `foreign` | None | turns a line (decoded JSON) of another program's log into an event, or None |

    >>> from otf.spec import Spec, goto
    >>> def counter(count, inp):
    ...     yield goto(count + 1, str(count + 1))
    >>> bench = Bench(Spec(counter, 0, ["count"]), system=lambda: lambda inp: ["1"], types=(str,), name="counter")
    >>> bench.name, bench.inputs, bench.port("count"), bench.at_speed(1) == bench, bench.oracle().model.initial.value
    ('counter', 'uioco', 'system', True, 0)
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
    silence_key: Callable[[Any, Any], Hashable] | None = None
    retries: int = 1
    pause: float = 1.0
    limits: Limits = field(default_factory=_limits)
    mutants: Mapping[str, str] = field(default_factory=dict[str, str])
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])
    known_issues: tuple[KnownIssue, ...] = ()
    foreign: Callable[[Any], Event | None] | None = None
    requirements: Requirements = field(default_factory=Requirements)
    properties: Mapping[str, Formula] = field(default_factory=dict[str, "Formula"])
    malformed: float = 0.0
    silence: Silence = "observed"
    pids: tuple[int, ...] = ()
    clients: tuple[str, ...] | None = None
    made_at: str = field(default_factory=own_call, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise UsageError for a bench that cannot reach its system, or with invalid times."""
        refuse("", values_refused(vars(self)))
        if self.system is not None and self.speed > 1:
            message = "a system in this process has no clock of its own, and answers before any time passes"
            raise UsageError(f"speed={self.speed:g}: {message}; leave the speed out")
        if self.system is None and self.codec is None:
            message = "a bench needs a codec and ports, or a system in this process"
            raise UsageError(f"{message}: Bench.on_ports(spec, codec, ports) or Bench.in_process(spec, system)")
        if self.properties:
            from otf.core.properties import formulas, listed

            object.__setattr__(self, "properties", formulas(self.properties))
            object.__setattr__(self, "requirements", listed(self.requirements, self.properties))
        self._damage()

    @classmethod
    def on_ports(
        cls,
        spec: Spec[Any, Any],
        codec: Codec,
        ports: Mapping[str, Opener] | None = None,
        *,
        connect: Connect | None = None,
        **options: Unpack[PortOptions],
    ) -> Bench:
        """Return the bench of a system behind ports; `ports` maps their names to adapters, or `connect` opens them all.

        The options are fields of `Bench`. `on_ports` raises UsageError, which names what is missing, unknown, or of the
        wrong type.

        >>> from dataclasses import dataclass
        >>> from otf.adapters import tcp
        >>> from otf.codec import lines
        >>> from otf.spec import Spec, goto
        >>> @dataclass(frozen=True)
        ... class Ping: pass
        >>> @dataclass(frozen=True)
        ... class Pong: pass
        >>> def ponger(state, inp):
        ...     yield goto(state, Pong())
        >>> codec = lines({Ping: "ping", Pong: "pong"})
        >>> bench = Bench.on_ports(Spec(ponger, None, [Ping()]), codec, {"net": tcp("127.0.0.1:7000")}, latency=0.01)
        >>> bench.port(Ping())
        'net'
        """
        __tracebackhide__ = True  # pytest shows the call
        parts = spec_refused(spec), codec_refused(codec), ports_refused(ports, connect, options)
        own = options_unknown(options, PortOptions), values_refused(options)
        refuse("Bench.on_ports(spec, codec, ports): ", *parts, *own)
        return cls(spec, codec=codec, ports=ports or {}, connect=connect, **options)

    @classmethod
    def in_process(cls, spec: Spec[Any, Any], system: Callable[[], Act], **options: Unpack[ProcessOptions]) -> Bench:
        """Return the bench of a Python object; for each path, `system` makes a fresh function from input to outputs.

        `types` are the types of the outputs. The options are fields of `Bench`. `in_process` raises UsageError, which
        names what is missing, unknown, or of the wrong type.

        >>> from otf.campaign import run
        >>> from otf.spec import Spec, goto
        >>> class Counter:
        ...     count = 0
        ...     def step(self, inp):
        ...         self.count += 1
        ...         return [self.count]
        >>> def counter(count, inp):
        ...     yield goto(count + 1, count + 1)
        >>> bench = Bench.in_process(Spec(counter, 0, ["count"]), lambda: Counter().step, types=(int,))
        >>> run(bench, traces=2, steps=5).verdict
        'pass'
        """
        __tracebackhide__ = True
        parts = spec_refused(spec), system_refused(system)
        own = options_unknown(options, ProcessOptions), values_refused(options)
        refuse("Bench.in_process(spec, system): ", *parts, *own)
        return cls(spec, system=system, **options)

    @cached_property
    def known_types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs, so that traces can be read back. Raises ModelError."""
        from otf.core.model import first_inputs

        decoded = () if self.codec is None else self.codec.types
        # codecs that users write often list the types that they decode and forget those that they encode
        offered = first_inputs(self.spec, MANY)
        if wrong := next((each.__name__ for each in offered if isinstance(each, type) and each in decoded), ""):
            message = f"the input {wrong} is a class, which no codec can send: write {wrong}(…) in `inputs`"
            raise ModelError(f"{message}{self.made_at}")
        return tuple(dict.fromkeys((*decoded, *map(type, offered), *self.types)))

    @cached_property
    def timing(self) -> Timing:
        """Return the times of the bench: always the same object, so that each path learns for the next."""
        if self.quiescence is None:
            return Learnt(FIRST, self.latency, self._busy, self.speed)
        return Timing(self.quiescence / self.speed, self.latency, self._busy, self.speed)

    @property
    def _busy(self) -> float:
        # a faster clock shortens waits but not computation: R is at least what the machine may need anyway, which is L
        return max(self.busy / self.speed, min(self.busy, self.latency))

    @property
    def speed(self) -> float:
        """Return how many seconds pass on the clocks of the system in one real second: see `Life`."""
        return 1.0 if self.life is None else self.life.speed

    def at_speed(self, speed: float) -> Bench:
        """Return the bench with the system's clocks at another speed. Raises UsageError for an invalid speed."""
        from otf.adapter.lifecycle import Life

        return self if speed == self.speed else replace(self, life=replace(self.life or Life(), speed=float(speed)))

    def by_reset(self) -> Bench:
        """Return the bench without its snapshot, if it has one, so that each path begins with a reset."""
        if self.life is None or self.life.snapshot is None:
            return self
        return replace(self, life=self.life.by_reset())

    def with_malformed(self, share: float) -> Bench:
        """Return a bench that replaces a share (0 to 1) of its inputs by malformed bytes. Raises UsageError.

        >>> from otf.models.coffee import bench
        >>> bench().with_malformed(0.1).malformed
        0.1
        """
        return replace(self, malformed=share)

    def _damage(self) -> None:
        """Wrap the codec in one for malformed inputs. Raises UsageError if the codec cannot recognise messages."""
        if not 0 <= self.malformed <= 1:
            message = f"malformed={self.malformed}: a share of the inputs is needed, from 0 to 1"
            raise UsageError(message)
        if not self.malformed:
            return
        from otf.adapter.malformed import sample_of
        from otf.codec.malformed import MalformedCodec

        if isinstance(self.codec, MalformedCodec):
            return
        if self.codec is None:
            raise UsageError("malformed inputs need a codec: a Python object is given values, not bytes")
        codec = MalformedCodec(self.codec)
        sample = sample_of(self.spec, self.codec)
        if not any(map(codec.reads, sample)):
            unread = show(sample[0]) if sample else "an input"
            message = f"malformed inputs: the codec does not decode the bytes of {unread} as this input, so that"
            advice = "give it a method decode_input(port, data) that returns an input or raises CodecError"
            raise UsageError(f"{message} it cannot tell which bytes are not a message; {advice}")
        object.__setattr__(self, "codec", codec)

    def oracle(self) -> Oracle:
        """Return the oracle that judges the paths of this bench."""
        spec = at_speed(self.spec, self.speed)
        judged = total(spec) if self.inputs in {"all", "mixed"} else spec
        relation: Relation = "any" if self.inputs == "any" else "uioco"
        from otf.codec.malformed import MalformedCodec
        from otf.core import Model, Oracle, Routes

        if isinstance(self.codec, MalformedCodec):
            from otf.adapter.malformed import hardened

            judged = hardened(judged, self.codec, self._output_ports)
        codec = self.codec if self.foreign is None else None  # another program's log has outputs of its own
        model = Model(judged, Routes(self._output_ports, self.port, types_of(codec), getattr(codec, "misfit", None)))
        return Oracle(model, relation, self.limits, self.timing, self.silence_key, self.requirements, self.properties)

    def known_issue(self, failure: Failure | None) -> KnownIssue | None:
        """Return the known issue that explains a failure, or None. Raises ModelError if `shows` raises an error."""
        return known_issue(self.known_issues, failure)

    @property
    def _output_ports(self) -> tuple[str, ...]:
        return self.outputs or tuple(self.ports) or ((SYSTEM,) if self.system is not None else ())

    def port(self, value: object) -> str:
        """Return the name of the port that carries a value; "" for an `Elapse`, which no port carries.

        `port` raises ModelError if the codec raises an exception.
        """
        if isinstance(value, Elapse):
            return ""
        if self.codec is None:
            return next(iter(self.outputs), SYSTEM)
        try:
            named = self.codec.port(value)
        except OtfError:
            raise
        except Exception as error:
            raise blame(f"the codec raised on the port of {show(value)}:", error, self.codec.port) from error
        if not isinstance(named, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- a codec of the user's may give anything
            message = f"the codec gave {show(named)} as the port of {show(value)}; a port is a name"
            raise ModelError(message)
        if named or not self.ports:
            return named
        if len(self.ports) == 1:
            return next(iter(self.ports))
        names = ", ".join(self.ports)
        message = (
            f"the codec does not tell the port of {show(value)}; the bench has {names}. Give each port a "
            f"codec, codecs({', '.join(f'{name}=codec' for name in self.ports)}); the values that several ports have "
            f'name theirs, At("{next(iter(self.ports))}", …); both are in otf.codec.by_port'
        )
        raise UsageError(message)

    def open(self) -> AbstractAsyncContextManager[Mapping[str, Line]]:
        """Start a fresh copy of the system and return its lines by port name; leaving the context stops the system."""
        from otf.adapter.line import open_ports

        connect = self.connect if self.connect is not None else partial(open_ports, self.ports)
        if self.life is None:
            return connect()
        from otf.adapter.lifecycle import living

        return living(self.life, connect)
