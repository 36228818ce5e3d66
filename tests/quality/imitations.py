"""Two systems with timers, in small: a TFTP server that retransmits, a job queue with a time to run; and their models.

The systems are written by hand, with a clock of their own, and not made from the models. `fault` makes a timer go off
late or early, or never: "late", "early", "dead", or "" for none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, TypeAlias

from otf.simulate import Emission, Happening
from otf.simulate.system import SystemMove
from otf.spec import Spec, TimerAction, Transition, goto

Clock: TypeAlias = Callable[[], float]

# ---- TFTP: a file is read block by block (RFC 1350); a block is sent again when its acknowledgement is late ----------


@dataclass(frozen=True, slots=True)
class Read:
    """A request for the file."""


@dataclass(frozen=True, slots=True)
class Ack:
    """The client has this block."""

    block: int


@dataclass(frozen=True, slots=True)
class Data:
    """The server sends this block."""

    block: int


@dataclass(frozen=True, slots=True)
class Idle:
    """No file is on its way."""


@dataclass(frozen=True, slots=True)
class Sending:
    """This block is on its way, for the n-th time."""

    block: int
    time: int = 1


BLOCKS: Final = 3
TIMES: Final = 3  # a block is sent so many times before the server gives up
AGAIN: Final = (0.9, 1.3)  # seconds until it is sent again


def _tftp(state: Idle | Sending, inp: Read | Ack) -> Iterator[Transition[Idle | Sending]]:
    match state, inp:
        case Idle(), Read():
            yield goto(Sending(1), Data(1))
        case Sending(block), Ack(acked) if acked == block:
            yield goto(Sending(block + 1), Data(block + 1)) if block < BLOCKS else goto(Idle())
        case _, Ack():
            # an old acknowledgement says nothing new; to answer it would double every block from there on
            yield goto(state)
        case _:
            return


def _retransmission(state: Idle | Sending) -> Iterator[Transition[Idle | Sending]]:
    match state:
        case Sending(block, time) if time < TIMES:
            yield goto(Sending(block, time + 1), Data(block), within=AGAIN)
        case Sending():
            yield goto(Idle(), within=AGAIN)
        case Idle():
            return


TFTP: Final[Spec[Idle | Sending, Read | Ack]] = Spec(
    _tftp, Idle(), [Read(), *map(Ack, range(1, BLOCKS + 1))], _retransmission, name="tftp"
)


@dataclass
class TftpServer:
    """A server; only its retransmission timer can be wrong."""

    clock: Clock
    random: Random
    fault: str = ""
    block: int = 0
    time: int = 0
    deadline: float = 0.0
    timers: tuple[TimerAction, ...] = ()

    @property
    def state(self) -> object:
        """Return the block on its way, and how often it was sent."""
        return self.block, self.time

    def take(self, inp: object) -> Happening:
        """Take a request or an acknowledgement."""
        if inp == Read() and not self.block:
            return self._send(1, 1)
        if inp == Ack(self.block) and self.block:
            return self._send(self.block + 1, 1) if self.block < BLOCKS else self._end()
        return Happening(self.state, (), None)

    def spontaneous(self) -> list[SystemMove]:
        """Return the timer, as long as a block is on its way."""
        if not self.block or self.fault == "dead":
            return []
        return [_timer(self.deadline - self.clock())]

    def do(self, _way: SystemMove) -> Happening:
        """Send the block again, or give up."""
        return self._send(self.block, self.time + 1) if self.time < TIMES else self._end()

    def _send(self, block: int, time: int) -> Happening:
        self.block, self.time = block, time
        self.deadline = self.clock() + self.random.uniform(1.0, 1.2) * SPEED[self.fault]
        return Happening(self.state, (Emission(Data(block), "net"),), None)

    def _end(self) -> Happening:
        self.block = self.time = 0
        return Happening(self.state, (), None)


# ---- a job queue: a job that was reserved and is not deleted in time is ready again (beanstalkd) ---------------------


@dataclass(frozen=True, slots=True)
class Put:
    """A producer puts a job into the queue."""


@dataclass(frozen=True, slots=True)
class Reserve:
    """A worker asks for a job, and does not wait for one."""

    worker: int


@dataclass(frozen=True, slots=True)
class Delete:
    """A worker has done its job."""

    worker: int


@dataclass(frozen=True, slots=True)
class Touch:
    """A worker needs more time."""

    worker: int


@dataclass(frozen=True, slots=True)
class Said:
    """What the queue answers on a port: INSERTED, RESERVED, TIMED_OUT, DELETED, TOUCHED, NOT_FOUND."""

    port: str
    word: str


@dataclass(frozen=True, slots=True)
class Jobs:
    """How many jobs are ready, and which worker has one; `turn` tells one time to run from the next."""

    ready: int = 0
    worker: int = 0
    turn: bool = False


JobInput: TypeAlias = Put | Reserve | Delete | Touch
MOST: Final = 2
TIME_TO_RUN: Final = (0.18, 0.22)  # as long as some steps take: nobody hears when it is over, one has to ask in time
WORKERS: Final = (1, 2)


def job_port(value: JobInput | Said) -> str:
    """Return the port of an input or output: each client has a connection of its own."""
    match value:
        case Said(port):
            return port
        case Put():
            return "producer"
        case _:
            return f"worker{value.worker}"


def _jobs(state: Jobs, inp: JobInput) -> Iterator[Transition[Jobs]]:
    def said(then: Jobs, word: str) -> Transition[Jobs]:
        return goto(then, Said(job_port(inp), word))

    match inp:
        case Put():
            # while a job is being done no other is put: in another state its time would begin anew
            if state.ready < MOST and not state.worker:
                yield said(replace(state, ready=state.ready + 1), "INSERTED")
        case Reserve(worker) if state.ready and not state.worker:
            yield said(Jobs(state.ready - 1, worker, not state.turn), "RESERVED")
        case Reserve():
            yield said(state, "TIMED_OUT")
        case Delete(worker) if worker == state.worker:
            yield said(Jobs(state.ready, 0, state.turn), "DELETED")
        case Touch(worker) if worker == state.worker:
            # from here on the time to run begins anew: so this has to be another state
            yield said(replace(state, turn=not state.turn), "TOUCHED")
        case Delete() | Touch():
            yield said(state, "NOT_FOUND")


def _expiry(state: Jobs) -> Iterator[Transition[Jobs]]:
    if state.worker:
        yield goto(Jobs(state.ready + 1, 0, state.turn), within=TIME_TO_RUN)


JOBS: Final[Spec[Jobs, JobInput]] = Spec(
    _jobs,
    Jobs(),
    [Put(), *map(Reserve, WORKERS), *map(Delete, WORKERS), *map(Touch, WORKERS)],
    _expiry,
    name="jobs",
)


@dataclass
class JobQueue:
    """A queue; only the time to run can be wrong, and whether a touch sets it anew (`untouched`)."""

    clock: Clock
    random: Random
    fault: str = ""
    ready: int = 0
    worker: int = 0
    deadline: float = 0.0
    timers: tuple[TimerAction, ...] = ()
    _words: dict[type, Callable[[int], str]] = field(default_factory=dict[type, Callable[[int], str]])

    def __post_init__(self) -> None:
        """Know the commands."""
        self._words = {Put: self._put, Reserve: self._reserve, Delete: self._delete, Touch: self._touch}

    @property
    def state(self) -> object:
        """Return the jobs, and when the time of the one that is being done is over."""
        return self.ready, self.worker, self.deadline

    def take(self, inp: JobInput) -> Happening:
        """Take a command, and answer it."""
        word = self._words[type(inp)](getattr(inp, "worker", 0))
        return Happening(self.state, (Emission(Said(job_port(inp), word), job_port(inp)),), None)

    def spontaneous(self) -> list[SystemMove]:
        """Return the timer of the job that is being done."""
        return [_timer(self.deadline - self.clock())] if self.worker and self.fault != "dead" else []

    def do(self, _way: SystemMove) -> Happening:
        """Make the job ready again."""
        self.ready, self.worker = self.ready + 1, 0
        return Happening(self.state, (), None)

    def _put(self, _worker: int) -> str:
        self.ready += 1
        return "INSERTED"

    def _reserve(self, worker: int) -> str:
        if not self.ready or self.worker:
            return "TIMED_OUT"
        self.ready, self.worker = self.ready - 1, worker
        self._begin()
        return "RESERVED"

    def _delete(self, worker: int) -> str:
        if worker != self.worker:
            return "NOT_FOUND"
        self.worker = 0
        return "DELETED"

    def _touch(self, worker: int) -> str:
        if worker != self.worker:
            return "NOT_FOUND"
        if self.fault != "untouched":
            self._begin()
        return "TOUCHED"

    def _begin(self) -> None:
        self.deadline = self.clock() + self.random.uniform(0.19, 0.21) * SPEED[self.fault]


SPEED: Final = {"": 1.0, "late": 2.0, "early": 0.5, "dead": 1.0, "untouched": 1.0}
"""How long a timer runs, as a multiple of what is right."""


def _timer(left: float) -> Transition[object]:
    due = max(0.0, left)
    return Transition(None, (), (due, due))
