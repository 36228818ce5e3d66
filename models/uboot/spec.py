"""U-Boot's prompt as a function of the input: two variables, two words of memory, and what a return key repeats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from otf.adapter.malformed import Disturbed
from otf.codec.malformed import Malformed
from otf.models.uboot.messages import INTERRUPT, Answer, Countdown, Type
from otf.spec import Spec, Transition, Where, goto

BASE: Final = 0x40200000
WORD: Final = 0xFFFFFFFF
VARIABLES: Final = ("a", "b")
FURTHEST: Final = 3
"""How often to show following memory at most."""

UNKNOWN: Final = "?"
"""The last command if it is unknown whether an empty line repeats it."""

BOOTING: Final = 20.0
"""Seconds that a board may take to restart; QEMU's takes half a second on an idle machine."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The board waits for a command.

    It keeps the values of `VARIABLES` (None: not defined), the words at `BASE`, and the command that an empty line
    repeats ("": none). If that command is `md.l`, it also keeps how many blocks it has shown after the first.
    """

    variables: tuple[str | None, ...] = (None, None)
    memory: tuple[int, int] = (0, 0)
    last: str = ""
    shown: int = 0

    def set(self, name: str, value: str | None) -> Prompt:
        """Return the state with another value of a variable."""
        values = (value if each == name else old for each, old in zip(VARIABLES, self.variables, strict=True))
        return replace(self, variables=tuple(values))


@dataclass(frozen=True, slots=True)
class AwaitKey:
    """The board counts down; the environment is lost, memory is not."""

    memory: tuple[int, int]


State: TypeAlias = Prompt | AwaitKey
Result: TypeAlias = tuple[Prompt, tuple[str, ...]]


def uboot(also: str = "", memory: tuple[int, int] = (0, 0)) -> Spec[State, Type]:
    """Return the spec of a board with U-Boot; `memory` contains the two words of memory at the address `BASE`.

    With `also="zero"`, the inputs of the spec include a division by zero.

    >>> uboot().name
    'uboot'
    """
    return Spec(_step, Prompt(memory=memory), partial(_inputs, also), name="uboot", malformed=_malformed)


def _step(state: State, inp: Type) -> Iterator[Transition[State]]:
    match state, inp.line:
        case AwaitKey(memory), "":
            yield goto(Prompt(memory=memory), Answer(""))
        case Prompt(memory=memory), "reset":
            yield goto(AwaitKey(memory), Countdown(), within=(0.0, BOOTING))
        case Prompt(last=last), "" if last != UNKNOWN:
            then, lines = _repeated(state)
            yield goto(then, Answer("", lines))
        case Prompt(), line if line == INTERRUPT:
            # a following return key repeats nothing
            yield goto(replace(state, last="", shown=0), Answer("<INTERRUPT>"), Answer(""))
        case Prompt(), line if line in ALSO["zero"]:
            # the result of a division by zero is undocumented, but the prompt comes back
            for value in (*state.variables[:1], None, "0", "ffffffff"):
                yield goto(
                    replace(state.set("a", value), last=""), Where(partial(_is_echo, line), f"an answer to {line}")
                )
        case Prompt(), line if line:
            then, lines = _done(replace(state, last=_repeatable(line), shown=0), line.split())
            yield goto(then, Answer(line, lines))
        case _:
            return


def _malformed(state: State, inp: Malformed) -> Iterator[Transition[Any]]:
    """Yield that a word with bytes beyond ASCII is not a command, or that the board drops these bytes.

    In an argument they may belong to the value, and after a reset the board counts down; the model sends neither.
    """
    rest = bytes(byte for byte in inp.raw if byte < 0x80).decode()  # noqa: PLR2004 -- ASCII
    is_known = inp.raw.partition(b" ")[0].isascii() or "reset" in {rest, inp.of.decode()}
    if isinstance(state, AwaitKey) or is_known or not rest:
        return
    yield goto(Disturbed(replace(state, last=UNKNOWN, shown=0), inp.port))
    for line in {rest, inp.of.decode()} & {*_LINES}:
        yield from (goto(Disturbed(way.state, inp.port)) for way in _step(state, Type(line)))


def _is_echo(line: str, said: object) -> bool:
    return isinstance(said, Answer) and said.echo == line


def _repeatable(line: str) -> str:
    return "" if line.startswith(("setenv", "setexpr")) else line


def _repeated(state: Prompt) -> Result:
    if state.last.startswith("md.l"):
        return replace(state, shown=state.shown + 1), (_dump(state.memory, state.shown + 1),)
    return _done(state, state.last.split())


def _done(state: Prompt, words: list[str]) -> Result:
    match words:
        case ["printenv", name]:
            value = state.variables[VARIABLES.index(name)] if name in VARIABLES else None
            return state, (f'## Error: "{name}" not defined' if value is None else f"{name}={value}",)
        case ["setenv", name, value]:
            return state.set(name, value), ()
        case ["setenv", name] | ["env", "delete", name]:
            return state.set(name, None), ()
        case ["setexpr", name, left, operation, right]:
            return state.set(name, f"{_value(state, left, operation, right):x}"), ()
        case ["env", "default", "-a"]:
            return replace(state, variables=(None, None)), ("## Resetting to default environment",)
        case _:
            return _other(state, words)


def _other(state: Prompt, words: list[str]) -> Result:
    match words:
        case ["mw.l", address, value, *_]:
            first = int(value, 16) if int(address, 16) == BASE else state.memory[0]
            second = int(value, 16) if int(address, 16) > BASE or words[3:] == ["2"] else state.memory[1]
            return replace(state, memory=(first, second)), ()
        case ["md.l", *_]:
            return state, (_dump(state.memory, 0),)
        case ["echo", *rest]:
            return state, (" ".join(rest),)
        case _:
            return state, (f"Unknown command '{words[0]}' - try 'help'",) if words else ()


def _value(state: Prompt, left: str, operation: str, right: str) -> int:
    first = state.memory[0] if left.startswith("*") else int(left, 16)
    second = int(right, 16)
    sums = {"+": first + second, "-": first - second, "*": first * second, "^": first ^ second}
    return sums[operation] & WORD


def _dump(memory: tuple[int, int], block: int) -> str:
    """Return the line that shows two words: in hexadecimal, and as characters."""
    words = memory if block == 0 else (0, 0)
    data = b"".join(word.to_bytes(4, "little") for word in words)
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)  # noqa: PLR2004 -- what can be printed
    shown = "".join(f" {word:08x}" for word in words)
    return f"{BASE + 8 * block:08x}:{shown:36}  {text}"


# ---- what is worth trying ------------------------------------------------------------------------------------------

ALSO: Final[dict[str, tuple[str, ...]]] = {"zero": ("setexpr a 5 / 0",)}
"""Inputs not tried by default, since the board has to restart after them."""

_LINES: Final = (
    "setenv a 1",
    "setenv a ff",
    "setenv a",
    "setenv b 7",
    "env delete a",
    "env delete b",
    "printenv a",
    "printenv b",
    "printenv nope",
    "setexpr a 10 + 20",
    "setexpr a 1 - 2",
    "setexpr b ff * 2",
    "setexpr b *40200000 + 1",
    "mw.l 40200000 deadbeef 2",
    "mw.l 40200004 12345678",
    "md.l 40200000 2",
    "echo hi you",
    "bogus",
    "env default -a",
    "reset",
    INTERRUPT,
)


def _inputs(also: str, state: State) -> Iterator[Type]:
    if isinstance(state, AwaitKey):
        yield Type("")
        return
    yield from map(Type, ALSO.get(also) or _LINES)
    if state.shown < FURTHEST:
        yield Type("")
