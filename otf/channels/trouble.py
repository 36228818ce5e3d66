"""The trouble of messages in a net: what may happen to them, and which are affected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from otf.errors import UsageError
from otf.values import show

PortOf = Callable[[Any], str]
FOREVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class NetTrouble:
    """What may happen to a message.

    `lost`: it may never arrive. `copies`: up to this many more may arrive. `held`: later messages may overtake it. It
    arrives before the system takes more than `late` further inputs, and within `delay` seconds.
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
    """A trouble, and the ports on which it affects inputs and outputs; `port` returns the port of a value."""

    trouble: NetTrouble
    inputs: frozenset[str]
    outputs: frozenset[str]
    port: PortOf | None


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of a net: the troubles of a message add up."""

    rules: tuple[Rule, ...]
    _inputs: dict[str, NetTrouble] = field(default_factory=dict[str, NetTrouble], init=False, repr=False, compare=False)
    _outputs: dict[str, NetTrouble] = field(
        default_factory=dict[str, NetTrouble], init=False, repr=False, compare=False
    )

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
        if port not in self._inputs:
            self._inputs[port] = _sum(rule.trouble for rule in self.rules if _named(port, rule.inputs))
        return self._inputs[port]

    def of_output(self, port: str) -> NetTrouble:
        """Return the trouble of the outputs on a port."""
        if port not in self._outputs:
            self._outputs[port] = _sum(rule.trouble for rule in self.rules if _named(port, rule.outputs))
        return self._outputs[port]


def rule(trouble: NetTrouble, inputs: Iterable[str], outputs: Iterable[str], port: PortOf | None) -> Rule:
    """Return the rule for these ports. Raises UsageError if there are none."""
    named = Rule(trouble, _ports("inputs", inputs), _ports("outputs", outputs), port)
    if not (named.inputs or named.outputs):
        message = "name the ports of the net: inputs=[…] for sent messages, outputs=[…] for received ones"
        raise UsageError(message)
    if port is not None and not callable(port):
        message = f"port={show(port)}: give a function from a value to its port, such as codec.port"
        raise UsageError(message)
    return named


def at_least(least: float, name: str, value: float) -> None:
    """Raise UsageError for a number that is too small."""
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
