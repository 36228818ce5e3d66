"""Messages of one line, their codec, and what a server holds: what the models of the benchmark `fresh` share."""

from __future__ import annotations

from dataclasses import dataclass

from otf.spec import Transition, goto


@dataclass(frozen=True, slots=True)
class Request:
    """A request of one line."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Its answer."""

    text: str


class LineCodec:
    """A line each."""

    types = (Request, Answer)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return "line"

    def encode(self, value: object) -> bytes:
        """Return the line of a request, without its end."""
        assert isinstance(value, Request)
        return value.text.encode()

    def decode(self, port: str, data: bytes) -> object:
        """Return an answer."""
        del port
        return Answer(data.decode())


@dataclass(frozen=True, slots=True)
class Held:
    """What a server holds: a few numbers, and the number of the last reply if replies are numbered."""

    numbers: tuple[int, ...]
    serial: int = -1

    def said(self, text: str, numbers: tuple[int, ...] | None = None) -> list[Transition[Held]]:
        """Return the transition with this answer."""
        serial = self.serial + (self.serial >= 0)
        answer = Answer(f"{text} {serial}" if serial > 0 else text)
        return [goto(Held(self.numbers if numbers is None else numbers, serial), answer)]
