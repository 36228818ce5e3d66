"""`otf new`: a bench to start from, for a kind of connection or drafted from a recording."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

from otf.cli.output import say
from otf.cli.tools.commands import NewCommand
from otf.cli.tools.starters import FRAMINGS, KINDS, STREAMS, bench_text
from otf.cli.user_code import near_file
from otf.draft import draft_bench
from otf.errors import PASS, UsageError, choose

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TRIES: Final = 3


def new(asked: NewCommand) -> int:
    """Do what the command asks; return the exit status."""
    if asked.name:
        return _begin(replace(asked, name=asked.name.removesuffix(".py")))
    if not _asks():
        raise UsageError("name the system: otf new my_system (in a terminal, `otf new` asks)")
    return _begin(ask_wishes(input))


def _asks() -> bool:
    return sys.stdin.isatty()


def _begin(wishes: NewCommand) -> int:
    if not NAME.fullmatch(wishes.name):
        message = f"{wishes.name}: the name of a Python file has letters, digits and underscores: otf new my_system"
        raise UsageError(message)
    if wishes.name in sys.stdlib_module_names:
        message = f"{wishes.name}: a file {wishes.name}.py would hide Python's module of that name"
        raise UsageError(f"{message}; choose another: otf new my_{wishes.name}")
    _check("kind", wishes.kind, KINDS)
    _check("framing", wishes.framing, FRAMINGS)
    return _draft(wishes) if wishes.source else _start(wishes)


def _check(option: str, given: str, known: Collection[str]) -> None:
    if given not in known:
        raise UsageError(f"--{option} {given}: {choose(given, known, f'the {option}s are')}")


def _start(wishes: NewCommand) -> int:
    name, kind, file = wishes.name, wishes.kind, Path(f"{wishes.name}.py")
    if wishes.framing != "lines" and kind not in STREAMS:
        raise UsageError(f"--framing {wishes.framing}: only a stream needs one ({', '.join(STREAMS)}), not {kind}")
    _write(file, bench_text(kind, name, file.name, wishes.framing))
    say(f"{file}: a bench for a lamp, {KINDS[kind].says}")
    say(f"  run it:            otf run {file}")
    say(f"  see it fail:       otf run {file} --set broken=true")
    say(f"  walk through it:   otf step {file}")
    if wishes.url:
        say(f"  your own system:   otf run {file} --set {'program' if kind == 'process' else 'url'}='{wishes.url}'")
    return PASS


def _draft(wishes: NewCommand) -> int:
    if wishes.framing != "lines":
        message = f"--framing {wishes.framing}: a draft from a recording has the framing of the recording"
        raise UsageError(f"{message}; leave --framing out, and write framing=… in the file that otf writes")
    file = Path(f"{wishes.name}.py")
    try:
        with Path(wishes.source).open("rb") as source:
            draft = draft_bench(source, wishes.source, wishes.name, wishes.url)
    except OSError as error:
        hint = near_file(Path(wishes.source), "; --from names a capture or a log")
        message = f"{wishes.source}: it cannot be read ({error.strerror}){hint}"
        raise UsageError(message) from error
    _write(file, draft.written())
    inputs, outputs = sum(each.sent > 0 for each in draft.kinds), sum(each.seen > 0 for each in draft.kinds)
    say(f"{file}: a draft of {draft.url or 'the recorded system'}; kinds of messages: {inputs} in, {outputs} out")
    for note in draft.notes:
        say(f"  of the recording:  {note}")
    say(
        "  read it first:     every guess in it may be wrong; until you have replaced them, a PASS proves only that the"
    )
    say("                     system answers as it did in the recording")
    say(f"  run it:            otf run {file}")
    say(f"  walk through it:   otf step {file}")
    return PASS


def ask_wishes(ask: Callable[[str], str]) -> NewCommand:
    """Ask about the system; `ask` prints a question and returns the answer. Raises UsageError for wrong answers."""
    try:
        name = _answer(ask, "What is your system called? [my_system] ", "my_system", NAME.fullmatch)
        source = _answer(
            ask,
            "Is there a recording of it, a capture or a log? Its file, or nothing: ",
            "",
            lambda each: Path(each).is_file(),
        )
        if source:
            return NewCommand(
                name=name, source=source, url=ask("Its address, if the recording does not have it: ").strip()
            )
        kind = _answer(ask, f"How is it connected: {', '.join(KINDS)}? [tcp] ", "tcp", KINDS.__contains__)
        framing = "lines"
        if kind in STREAMS:
            framing = _answer(
                ask, f"What is one message: {', '.join(FRAMINGS)}? [lines] ", framing, FRAMINGS.__contains__
            )
        what = "command line" if kind == "process" else "address"
        url = "" if kind == "object" else ask(f"Its {what}, or nothing for a simulated one: ").strip()
    except EOFError as error:
        raise UsageError("the questions were not answered; otf new NAME --kind KIND asks none") from error
    return NewCommand(name=name, kind=kind, framing=framing, url=url)


def _answer(ask: Callable[[str], str], question: str, default: str, fits: Callable[[str], object]) -> str:
    for _ in range(_TRIES):
        given = ask(question).strip() or default
        if not given or fits(given):
            return given
        say(f"  {given!r} is not an answer to this")
    raise UsageError("the questions were not answered; otf new NAME --kind KIND asks none, and otf new -h explains")


def _write(file: Path, content: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as created:
            created.write(content)
    except FileExistsError as error:
        raise UsageError(f"{file}: this file exists already and is not changed; choose another name") from error
    except OSError as error:
        raise UsageError(f"{file}: it cannot be written ({error.strerror}); choose another name") from error
