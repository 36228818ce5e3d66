"""Tries registers that were guessed from a recording on the system: with the guess, and with the recorded value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from otf.adapter import Bench
from otf.cli.output import warn
from otf.cli.signals import interruptible
from otf.cli.tools.plain_systems import PlainSystem
from otf.draft.registers import GuessedRegister
from otf.learn.listening import answers_to
from otf.learn.symbols import Symbols

LONGEST: Final = 50  # messages of a path that tries a register


def tried(plain: PlainSystem, watched: Callable[[Bench], Bench]) -> PlainSystem:
    """Return the system without the guessed registers that it refutes; say of each what was seen."""
    for register in plain.messages.registers:
        guess, literal, as_recorded = _answers(register, watched(plain.bench()))
        message = f"register {register.name}: {register.way[-1]} is answered {guess}, and with the recorded"
        if guess == literal:
            warn(f"{message} {register.value} as well: not confirmed")
        elif as_recorded:
            warn(f"{message} {register.value} as in the recording ({literal}): refuted, so {register.value} is sent")
            plain = _without(plain, register)
        else:
            warn(f"{message} {register.value} {literal}: confirmed")
    return plain


def _answers(register: GuessedRegister, bench: Bench) -> tuple[str, str, bool]:
    """Return the answers with the guess and with the recorded value, and whether only the latter are as recorded."""
    way, mark = list(register.way[-LONGEST:]), f"{{{register.name}}}"
    paths = [way, [*way[:-1], way[-1].replace(mark, register.value)]] * 2  # what differs the second time varies
    last = [(interruptible(partial(answers_to, bench, each)).value or [()])[-1] for each in paths]
    symbols, recorded = Symbols(), tuple(("", each) for each in register.answer)
    for one in (0, 1):
        symbols.mask([each for each in last[one::2] if each is not None])
    texts = ["the end of the connection" if each is None else symbols.text(each) for each in (*last[:2], recorded)]
    guess, literal, expected = (each.replace(register.value, mark) for each in texts)
    return guess, literal, literal == expected != guess


def _without(plain: PlainSystem, register: GuessedRegister) -> PlainSystem:
    texts = [each.replace(f"{{{register.name}}}", register.value) for each in plain.messages.texts]
    left = [each for each in plain.messages.registers if each is not register]
    patterns = {name: pattern for name, pattern in plain.registers.items() if name != register.name}
    return replace(plain, messages=replace(plain.messages, texts=texts, registers=left), registers=patterns)
