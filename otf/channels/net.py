"""The state of a system behind a net, with the messages in flight; which of these states are needed; and trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeGuard, TypeVar

from otf.errors import UsageError
from otf.spec.outputs import Accept
from otf.spec.transition import Transition
from otf.values import key, show

State = TypeVar("State")
ANY: Final = 2  # copies of an output: only "one" and "any number" are distinguished


@dataclass(frozen=True, slots=True)
class NetMessage:
    """A message (`item`) that a simulated net has not yet delivered.

    The message arrives before the system takes more than `left` further inputs. If the message is an input, it arrives
    at most `more` times. If the message is an output, `more=2` means that it may arrive any number of times. If the
    message is `sure`, it arrives at least once.

    >>> NetMessage("pong", left=1).more
    1
    """

    item: object
    left: int
    more: int = 1
    sure: bool = False


MessageBag: TypeAlias = tuple[NetMessage, ...]


@dataclass(frozen=True, slots=True)
class InNet(Generic[State]):
    """The `state` of a system together with the messages that are in flight in the net.

    The `inputs` are on their way to the system, and the `outputs` are on their way to the tester.

    >>> InNet("idle")
    InNet(state='idle', inputs=(), outputs=())
    """

    state: State
    inputs: MessageBag = ()
    outputs: MessageBag = ()


def same(one: object, other: object) -> bool:
    """Return whether two values are equal and have the same types."""
    return one is other or (one == other and key(one) == key(other))


def with_one(bag: MessageBag, fresh: NetMessage, most: float = ANY) -> MessageBag:
    """Return the messages with one more; the counts of two equal messages add up, to at most `most`."""
    rest = tuple(held for held in bag if not same(held.item, fresh.item))
    for held in bag:
        if same(held.item, fresh.item):
            fresh = _both(held, fresh, most)
    return (*rest, fresh)


def in_order(bag: MessageBag) -> MessageBag:
    """Return the messages in an order that does not depend on which of them entered the net first."""
    return tuple(sorted(bag, key=_text)) if len(bag) > 1 else bag


def without_one(bag: MessageBag, held: NetMessage) -> MessageBag:
    """Return what is left in the net once one copy of `held` has been delivered."""
    left = (NetMessage(held.item, held.left, held.more - 1, sure=held.sure),) if held.more > 1 else ()
    return instead(bag, held, *left)


def instead(bag: MessageBag, held: NetMessage, *then: NetMessage) -> MessageBag:
    """Return the messages with one of them replaced by others."""
    return tuple(new for each in bag for new in (then if each is held else (each,)))


def aged(bag: MessageBag) -> MessageBag:
    """Return the messages after one more input is taken, without those that can no longer arrive."""
    return tuple(NetMessage(held.item, held.left - 1, held.more, sure=held.sure) for held in bag if held.left)


def covers(big: InNet[State], small: InNet[State]) -> bool:
    """Return whether everything that can happen in `small` can also happen in `big`, which then stands for both."""
    return same(big.state, small.state) and _over(big.inputs, small.inputs) and _over(big.outputs, small.outputs)


def _over(big: MessageBag, small: MessageBag) -> bool:
    # one more message in flight only allows more, unless it must arrive: then it must in `small` too
    return all(any(_at_least(more, held) for more in big) for held in small) and all(
        any(_owes(held, more) for held in small) for more in big if more.sure
    )


def _at_least(big: NetMessage, small: NetMessage) -> bool:
    return big.left >= small.left and big.more >= small.more and same(big.item, small.item)


def _owes(small: NetMessage, big: NetMessage) -> bool:
    return small.sure and small.more == big.more and same(small.item, big.item)


def _both(one: NetMessage, other: NetMessage, most: float) -> NetMessage:
    more = int(min(one.more + other.more, most))
    return NetMessage(one.item, max(one.left, other.left), more, sure=one.sure or other.sure)


def _text(held: NetMessage) -> str:
    return show(held.item)


NetState: TypeAlias = InNet[Any]
NetWay: TypeAlias = Transition[Any] | Accept


def whole(way: object) -> TypeGuard[Transition[Any]]:
    """Return whether `item` is a valid transition; for anything else, the oracle reports what is wrong."""
    return isinstance(way, Transition) and _is_tuple(way.outputs)


def silent(way: NetWay) -> TypeGuard[Transition[NetState]]:
    """Return whether a transition has no outputs and no timing."""
    if not isinstance(way, Transition) or way.outputs != ():
        return False
    return way.within is None and not way.timers and not way.after


def fewest(ways: Sequence[NetWay], origin: NetState | None = None) -> list[NetWay]:
    """Drop ways without outputs whose next state adds nothing to that of another way, or to `origin`.

    If the system has done the same in two states, the state in which more can arrive is enough.
    """
    there = [] if origin is None else [origin]
    kept: list[NetWay] = []
    for number, way in enumerate(ways):
        if silent(way):
            later = [other.state for other in ways[number + 1 :] if silent(other)]
            if any(covers(state, way.state) for state in there) or any(_more(state, way.state) for state in later):
                continue
            there.append(way.state)
        kept.append(way)
    return kept


def full(net: NetState, moves: Callable[[NetState], Iterable[NetWay]]) -> NetState:
    """Return the state after all silent moves that only allow more than before, each as often as it may happen.

    Such a move is a retransmission into the net, or an input whose copy gets the same answer again.
    """
    for way in moves(net):
        if silent(way) and _more(way.state, net):
            return full(way.state, moves)
    return net


def _more(one: NetState, other: NetState) -> bool:
    return covers(one, other) and not covers(other, one)


def _is_tuple(outputs: object) -> bool:
    return isinstance(outputs, tuple)


PortOf = Callable[[Any], str]
FOREVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class NetTrouble:
    """What a net may do to a message.

    If `lost` is true, the net may lose the message. The net may deliver up to `copies` more copies of the message. If
    `held` is true, the net may delay the message, so that later messages overtake it. A held message or a copy arrives
    before the system takes more than `late` further inputs, and within `delay` seconds.
    """

    lost: bool = False
    copies: int = 0
    held: bool = False
    late: int = 0
    delay: float = 0.0

    @property
    def kept(self) -> bool:
        """Return whether the messages in the net matter."""
        return self.held or self.copies > 0

    @property
    def sure(self) -> bool:
        """Return whether a delayed message is sure to arrive."""
        return self.held and not self.lost

    @property
    def pooled(self) -> bool:
        """Return whether it may arrive now, later or never: then only the messages in flight matter."""
        return self.held or (self.lost and self.copies > 0)

    @property
    def ordered(self) -> bool:
        """Return whether copies arrive before the next message on their port."""
        return self.copies > 0 and not self.held

    def __or__(self, other: NetTrouble) -> NetTrouble:
        """Return both troubles combined."""
        return NetTrouble(
            self.lost or other.lost,
            max(self.copies, other.copies),
            self.held or other.held,
            max(self.late, other.late),
            max(self.delay, other.delay),
        )


NONE: Final = NetTrouble()


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of trouble of a net, and the ports on which the trouble affects inputs and outputs.

    `port` returns the port of a message.
    """

    trouble: NetTrouble
    inputs: frozenset[str]
    outputs: frozenset[str]
    port: PortOf | None


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of a net; several rules may affect one message."""

    rules: tuple[Rule, ...]

    @property
    def kept(self) -> bool:
        """Return whether the messages in the net matter."""
        return any(rule.trouble.kept for rule in self.rules)

    def port(self, value: object) -> str:
        """Return the port of a value; "" if there is only one port, and no function for it."""
        return next((rule.port(value) for rule in self.rules if rule.port is not None), "")

    def of_input(self, value: object) -> NetTrouble:
        """Return the trouble of an input."""
        port = self.port(value)
        return _sum(rule.trouble for rule in self.rules if _named(port, rule.inputs))

    def of_output(self, port: str) -> NetTrouble:
        """Return the trouble of the outputs on a port."""
        return _sum(rule.trouble for rule in self.rules if _named(port, rule.outputs))


def rule(trouble: NetTrouble, inputs: Iterable[str], outputs: Iterable[str], port: PortOf | None) -> Rule:
    """Return the rule that a trouble affects the given ports of a net; raise UsageError if no ports are given."""
    named = Rule(trouble, _ports("inputs", inputs), _ports("outputs", outputs), port)
    if not (named.inputs or named.outputs):
        message = "name the ports of the net: inputs=[…] for sent messages, outputs=[…] for received ones"
        raise UsageError(message)
    if port is not None and not callable(port):
        message = f"port={show(port)}: give a function from a value to its port, such as codec.port"
        raise UsageError(message)
    return named


def at_least(least: float, name: str, value: float) -> None:
    """Raise UsageError if a number is smaller than the smallest allowed number."""
    if not value >= least:
        message = f"{name}={show(value)}: it must be at least {least}"
        raise UsageError(message)


def _ports(name: str, ports: Iterable[str]) -> frozenset[str]:
    if isinstance(ports, str):
        # a plain string would become a set of letters
        message = f"{name}={ports!r}: give a list of ports, {name}=[{ports!r}]"
        raise UsageError(message)
    return frozenset(ports)


def _named(port: str, ports: frozenset[str]) -> bool:
    # if there is only one port, values have no port, and the rule names that one
    return port in ports or (not port and bool(ports))


def _sum(troubles: Iterable[NetTrouble]) -> NetTrouble:
    found = NONE
    for trouble in troubles:
        found |= trouble
    return found
