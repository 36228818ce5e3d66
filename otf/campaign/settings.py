"""The settings of a campaign, and the header that records them in each trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, get_args

from otf.errors import near, refuse
from otf.spec import fingerprint
from otf.trace.kinds import FailurePart
from otf.trace.record import LARGEST, Header, Mode

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.strategy import Coverage, StrategyKind


UNLIMITED: Final = 1_000_000_000  # another bound ends the campaign

MINUTE: Final = 60

Keep = Literal["all", "failures"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds for shrinking one failure: `transitions` (inputs sent), `resets` (system starts), and `seconds`.

    >>> Budget(seconds=60).transitions
    20000
    """

    transitions: int = 20_000
    resets: int = 5_000
    seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Workers:
    """Worker processes: how many, Python's arguments to start one, and the first line that it reads.

    `cluster` is the address of a dask scheduler, whose workers start them instead of this machine.

    >>> Workers(2, ("-m", "otf.cli.worker"), b"{}").processes
    2
    """

    processes: int
    command: tuple[str, ...]
    greeting: bytes
    cluster: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a campaign.

    | field | meaning |
    |---|---|
    | `out` | the folder for the traces and the log; it belongs to this campaign alone |
    | `reference` | the bench as the user named it, so that a trace can name it again |
    | `traces` | the number of paths; `UNLIMITED` if only another bound ends the campaign |
    | `steps` | the greatest number of inputs in one path |
    | `mixed` | whether `steps` is a mean: lengths double, and the longest path takes half of all inputs, or of `time` |
    | `time` | a bound for all paths together, in seconds; None: no bound |
    | `seed` | the seed of all random choices |
    | `strategy` | how otf chooses inputs: a name, a name with parameters, or a strategy |
    | `mode` | when otf sends inputs: `strict`, after quiescence, or `eager`, at once if no output can come |
    | `burst` | how many inputs otf sends at once; None: with several clients two or three, on a quarter of the paths |
    | `largest` | the most bytes of a trace; otf drops the middle of a longer one |
    | `aftermath` | how many seconds otf listens after a new failure; it does not judge what comes |
    | `jobs` | how many paths run at the same time, each against its own copy of the system |
    | `keep` | which traces otf keeps: `all`, or only those of `failures` |
    | `stop_first` | whether the campaign ends at its first failure |
    | `shrink` | whether otf shrinks failures |
    | `group_by` | the parts of a failure whose values make its kind: `state`, `input`, …; None: as few as needed |
    | `budget` | the bounds for shrinking one failure |
    | `saved` | the folder that keeps failures for the next campaign, which drives them first; None: no folder |
    | `where` | the system's addresses, if they differ from the bench's: saved failures belong to one address |
    | `resume` | whether the campaign in `out` continues, after the paths that it has driven already |
    | `check` | whether otf judges all traces of a continued campaign again |
    | `spend` | whether `time` goes first to what changed in the model; a campaign of its earlier form is set aside |
    | `workers` | the processes that drive the paths, each `jobs` at the same time; None: this process alone |
    | `device` | returns the bench on the device of a lane, counted from 0; None: all lanes have one bench |
    | `decides` | whether the campaign ends as soon as every requirement of the bench is decided |
    | `covers` | the coverage to which otf adds the traces of workers' paths; None: it counts no coverage |
    | `options` | the options of the command line, for the journal: it continues without them |

    `Settings` raises UsageError for invalid values.

    >>> from pathlib import Path
    >>> Settings(out=Path("out"), traces=100, seed=1).steps
    50
    >>> Settings(out=Path("out"), traces=0)
    Traceback (most recent call last):
    otf.errors.UsageError: traces=0: at least 1 is needed
    """

    out: Path
    reference: str = ""
    traces: int = 10
    steps: int = 50
    mixed: bool = False
    time: float | None = None
    seed: int = 0
    strategy: str | StrategyKind = "alternating"
    mode: Mode = "eager"
    burst: int | None = None
    largest: int = LARGEST
    aftermath: float = 0.2
    jobs: int = 1
    keep: Keep = "all"
    stop_first: bool = False
    shrink: bool = True
    group_by: tuple[FailurePart, ...] | None = None
    budget: Budget = field(default_factory=Budget)
    saved: Path | None = None
    where: tuple[str, ...] = ()
    resume: bool = False
    check: bool = False
    spend: bool = False
    workers: Workers | None = None
    device: Callable[[int], Bench] | None = None
    decides: bool = False
    covers: Coverage | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def lanes(self) -> int:
        """Return how many paths the campaign drives at the same time."""
        return self.jobs * (1 if self.workers is None else self.workers.processes)

    def lane_of(self, path: int) -> int:
        """Return the number of the lane (one of the parallel drivers) of a path; each lane may have its own device."""
        return (path - 1) % self.lanes

    def __post_init__(self) -> None:
        """Refuse invalid values: a program may get them from anywhere, and not every program is type-checked."""
        for name in ("out", "saved"):
            if isinstance(folder := getattr(self, name), str):
                object.__setattr__(self, name, Path(folder))
        refuse("", self._refused())

    def _refused(self) -> Iterator[str]:
        """Yield what is wrong with the values."""
        for name in ("traces", "steps", "largest", "jobs", "burst"):
            number: int | None = getattr(self, name)
            yield from _unless(name, number, "at least 1", lambda value: value is None or value >= 1)
        yield from _unless("seed", self.seed, "a whole number", lambda value: isinstance(value, int))
        moment = f"a number of seconds from 0 to {MINUTE}"
        yield from _unless("aftermath", self.aftermath, moment, lambda at: 0 <= at <= MINUTE)
        yield from _unless("time", self.time, "a positive number of seconds", lambda value: value is None or value > 0)
        for name, words in (("mode", get_args(Mode)), ("keep", get_args(Keep))):
            hint = near(str(getattr(self, name)), words)
            for each in _unless(name, getattr(self, name), f"one of {', '.join(words)}", words.__contains__):
                yield f"{each}; {hint}" if hint else each
        if self.spend and self.time is None:
            yield "spend=True: a time to be spent is needed, as in time=60"


def _unless(name: str, value: Any, what: str, holds: Callable[[Any], bool]) -> Iterator[str]:  # noqa: ANN401 -- any setting
    """Yield what is needed, unless a condition holds for the value of a setting."""
    try:
        good = holds(value)
    except TypeError:  # a text is not a number
        good = False
    if not good:
        yield f"{name}={value!r}: {what} is needed"


class SettingsKeywords(TypedDict, total=False):
    """The fields of `Settings` as optional keyword arguments, for typing functions that call `run`.

    >>> from typing import Unpack
    >>> from otf.campaign import Settings
    >>> def nightly(**more: Unpack[SettingsKeywords]) -> Settings:
    ...     return Settings(**{"out": "out", "traces": 1_000, **more})
    >>> nightly(steps=50).traces
    1000
    """

    out: Path
    reference: str
    traces: int
    steps: int
    mixed: bool
    time: float | None
    seed: int
    strategy: str | StrategyKind
    mode: Mode
    burst: int | None
    largest: int
    aftermath: float
    jobs: int
    keep: Keep
    stop_first: bool
    shrink: bool
    group_by: tuple[FailurePart, ...] | None
    budget: Budget
    saved: Path | None
    where: tuple[str, ...]
    resume: bool
    check: bool
    spend: bool
    workers: Workers | None
    device: Callable[[int], Bench] | None
    decides: bool
    covers: Coverage | None
    options: Mapping[str, object]


def header(bench: Bench, settings: Settings, path: int, *, strategy: str = "") -> Header:
    """Return the header for one path of a campaign."""
    import platform  # a model file needs none of this
    from uuid import uuid4

    from otf.campaign.pace import burst  # it imports codecs and strategies, which settings do without

    return Header(
        run=uuid4().hex[:12],
        bench=settings.reference or bench.name,
        parameters=dict(bench.parameters),
        fingerprint=fingerprint(bench.spec),
        seed=settings.seed,
        strategy=strategy or str(settings.strategy),
        mode=settings.mode,
        burst=burst(bench, settings.burst, settings.seed, path),
        inputs=bench.inputs,
        quiescence=bench.timing.quiescence * bench.speed,
        latency=bench.latency,
        busy=bench.busy,
        versions={"otf": _version(), "python": platform.python_version(), **_image(bench)},
        path=path,
        speed=bench.speed,
        malformed=bench.malformed,
    )


def _image(bench: Bench) -> Mapping[str, str]:
    flash = None if bench.life is None else bench.life.flash
    return {} if flash is None else flash.version


@cache
def _version() -> str:
    from importlib.metadata import version  # it imports the email package, and takes as long as the whole model

    return version("otf")


def learn(header: Header, bench: Bench) -> bool:
    """Return whether paths may learn from each other; otf makes statements only if that is excluded.

    Strategies other than `random` count visits. Eager mode remembers which states are quiet, and strict mode which
    timers it has waited for. Neither mode waits for a system in this process.
    """
    forgets = header.mode == "strict" and bench.spec.emits is None
    return header.strategy != "random" or not (bench.system is not None or header.burst > 1 or forgets)


SCALES: Final = (2, 4, 8)
"""Every second path is twice as long as the shortest, every fourth four times, every eighth eight times."""
FEW: Final = 3
"""The fewest paths of which one is the longest."""


def length(settings: Settings, number: int, *, late: bool) -> int:
    """Return the greatest number of inputs of a path, given its number, counted from 1.

    If the settings mix lengths, they double from path to path, and the last path takes half of all inputs. If only time
    ends the campaign, a path that begins in its second half (`late`) lasts to the end.

    >>> from pathlib import Path
    >>> ten = Settings(out=Path("out"), traces=10, mixed=True)
    >>> [length(ten, number, late=False) for number in range(1, 11)]
    [11, 24, 12, 48, 12, 23, 12, 96, 12, 250]
    """
    if not settings.mixed:
        return settings.steps
    if settings.traces >= UNLIMITED:
        return UNLIMITED if late else max(1, _share(number, 2 * settings.steps, 5))
    whole = settings.steps * settings.traces
    longest = whole // 2 if settings.traces >= FEW else settings.steps
    if number == settings.traces:
        return longest
    return max(1, _share(number, whole - longest, _sum(settings.traces - 1)))


def _share(number: int, inputs: int, parts: int) -> int:
    """Return the length of a path if `inputs` are divided into `parts`; the lengths add up to the inputs."""
    return inputs * _sum(number) // parts - inputs * _sum(number - 1) // parts


def _sum(number: int) -> int:
    """Return the parts of the first paths together."""
    return number + sum(number // scale * (scale // 2) for scale in SCALES)
