"""The draft of a bench as a Python file: formatted, typed and short, since a reader edits it.

A recording gets into the code only as literals, and as names made of letters and digits (`kinds`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from otf.draft.dialogue import FramingGuess
from otf.draft.kinds import MessageKind, literal, quoted
from otf.draft.model import AnswerKinds, InputRule, StateGuess

MOST_INPUTS: Final = 5
"""Inputs of each type that the draft tries: the most frequent ones."""

_WIDEST: Final = 100
_SAMPLE: Final = 25
_ADAPTERS: Final = {"udp": "udp(url)", "exec": 'process(url.removeprefix("exec:"), ready=None)'}
_SERIAL: Final = "serialport(url, baudrate=115200)"


@dataclass(frozen=True)
class Draft:
    r"""The guesses about a recorded system, from which `written` makes a Python file.

    The `name` and the `url` are those of the bench. The system sends the `greeting` before the first input. The `kinds`
    are the types of messages, and the `rules` are the answers to each input. `framing` says where a message ends. The
    longest wait for an answer took `slowest` seconds. The `notes` are remarks for the user. If the messages are those
    of a library, `library` names the function that makes a codec from that library, such as `from_json`. The `states`
    are a guess of the system's states, or None.

    >>> from io import BytesIO
    >>> from otf.draft import draft_bench
    >>> made = draft_bench(BytesIO(b"< hello\n> press\n< on\n"), "lamp.log", "lamp", "tcp://127.0.0.1:7000")
    >>> made.greeting, made.maker
    (('Hello',), 'lines')
    """

    name: str
    url: str
    kinds: Sequence[MessageKind]
    rules: Sequence[InputRule]
    greeting: AnswerKinds
    framing: FramingGuess
    slowest: float
    notes: Sequence[str] = ()
    library: str = ""
    states: StateGuess | None = None

    @property
    def maker(self) -> str:
        """Return the name of the function that makes the bench's codec."""
        return self.library or ("records" if any(kind.body for kind in self.kinds) else "lines")

    @property
    def adapter(self) -> str:
        """Return the code of the call that opens the bench's port."""
        scheme = self.url.partition(":")[0]
        plain = "tcp(url)" if scheme == "tcp" else _ADAPTERS.get(scheme, _SERIAL)
        return f"{plain[:-1]}, framing={self.framing.code})" if self.framing.code else plain

    @property
    def state(self) -> str:
        """Return the type of the model's states, as code."""
        return "str" if self.states else "bool" if self.greeting else "None"

    def written(self) -> str:
        """Return the text of the Python file."""
        parts = (self._head(), self._messages(), self._model(), self._codec(), self._bench())
        return "".join(f"{line}\n" for part in parts for line in part)

    def _head(self) -> Iterator[str]:
        yield f'"""{self.name}: a draft that `otf new` made from a recording. Read it: every "guess" may be wrong.'
        yield from ("", "Replace each guess by what you know, and run it again:", "")
        yield f"  otf run {self.name}.py    tests the system at its address: see `bench`"
        yield from ("", "Until then, a PASS says no more than that the system answers as it did in the recording.")
        yield from ([""] if self.notes else [])
        yield from (f"Of the recording, {note}." for note in self.notes)
        yield '"""'
        yield from ("", "from __future__ import annotations", "", "from collections.abc import Iterator")
        yield "from dataclasses import dataclass"
        yield from self._imports()

    def _imports(self) -> Iterator[str]:
        body = "\n".join(line for kind in self.kinds for line in kind.body)
        typings = [name for name in ("Annotated", "ClassVar") if name in body]
        yield from ([f"from typing import {', '.join(typings)}"] if typings else [])
        used = "\n".join([*self._model(), *self._bench()])
        names = [name for name in ("Bench", "Spec", "Transition", "Where", "framing", "goto") if f"{name}" in used]
        yield ""
        yield f"from otf import {', '.join([*names, *(['lines'] if self.maker == 'lines' else [])])}"
        yield f"from otf.adapters import {self.adapter.partition('(')[0]}"
        body = body if self.maker == "records" else ""
        sums = re.findall(r"checksum(?=\()|(?<=checksum\()\w+|length(?=\()", body)
        yield from ([f"from otf.codec.checksums import {', '.join(sorted(set(sums)))}"] if sums else [])
        fields = sorted(set(re.findall(r"\bu\d+(?:be|le)?\b|\braw\b|\brest\b", body)), key=_in_order)
        yield from ([f"from otf.codec.fields import {', '.join(fields)}"] if fields else [])
        yield from (["from otf.codec.records import records"] if self.maker == "records" else [])
        yield from ([f"from otf.codec.libraries import {self.library}"] if self.library else [])

    def _messages(self) -> Iterator[str]:
        yield from ("", "# 1. The messages: inputs are sent to the system, outputs come from it.")
        for kind in self.kinds:
            yield from ("", "", "@dataclass(frozen=True)", f"class {kind.name}:")
            yield f'    """{_counted(kind)}."""  # {self._shown(kind)}'
            body = kind.body or tuple(f"{each.name}: {each.hint}" for each in kind.fields)
            yield from ([""] if body else [])
            yield from (f"    {line}" for line in body)
        yield from ("", "")

    def _shown(self, kind: MessageKind) -> str:
        # in ASCII, on one line: it is inside a comment
        is_binary = self.maker == "records"
        return kind.sample[:_SAMPLE].hex(" ") if is_binary else quoted(kind.sample.decode()[: 2 * _SAMPLE])

    def _model(self) -> Iterator[str]:
        yield from self._about_states()
        yield from ("", "")
        yield f"def step(state: {self.state}, inp: object) -> Iterator[Transition[{self.state}]]:"
        yield from (["    if not state:", "        return  # it has to greet first"] if self.greeting else [])
        yield "    match inp:"
        known = {kind.name: kind for kind in self.kinds}
        for rule in self.rules:
            yield from _case(rule, known, self.states or StateGuess())
        yield from ("        case _:", "            return", "", "")
        if self.greeting:
            yield f"def emits(state: {self.state}) -> Iterator[Transition[{self.state}]]:"
            greeted = quoted(self.states.initial) if self.states else "True"
            yield from (
                "    if not state:",
                f"        yield goto({', '.join([greeted, *_items(self.greeting, known)])})",
                "",
                "",
            )
        yield from ("# the inputs to try, those that were recorded most often", "INPUTS: list[object] = [")
        yield from (f"    {inp}," for rule in self.rules if not rule.varies for inp in _inputs(rule.kind))
        emits = ", emits=emits" if self.greeting else ""
        yield from ("]", f"spec = Spec(step, initial={self._initial()}, inputs=INPUTS{emits})", "")

    def _initial(self) -> str:
        if self.states is None:
            return "False" if self.greeting else "None"
        return '""' if self.greeting else quoted(self.states.initial)

    def _about_states(self) -> Iterator[str]:
        if self.states is None:
            yield "# 2. The model. The recording shows what was answered, not why: give the system a state, and say"
            yield "#    which answer belongs to which state. A class allows any of its values."
            return
        yield "# 2. The model. A class allows any of its values. The states are a guess: each is named after the"
        yield "#    exchange that leads to it, and an answer is left out in a state where another one always came."

    def _codec(self) -> Iterator[str]:
        yield from ("# 3. The codec: messages as bytes.", "")
        ordered = sorted(self.kinds, key=lambda kind: (kind.seen > 0, kind.weight), reverse=True)
        if self.maker != "lines":
            yield f"codec = {self.maker}("
            yield from (f"    {kind.name}," for kind in ordered if kind.seen)
            yield "    inputs=["
            yield from (f"        {kind.name}," for kind in self.kinds if not kind.seen)
            yield from ("    ],", ")")
        else:
            yield from ("codec = lines(", "    {")
            yield from (f"        {kind.name}: {quoted(kind.pattern)}," for kind in ordered)
            yield from ("    }", ")")
        yield from ("", "")

    def _bench(self) -> Iterator[str]:
        busy = _round_seconds(max(0.01, 1.5 * self.slowest))
        yield "# 4. The bench: the address, and times in seconds (`otf run ... --calibrate` measures them)."
        yield from ("", "", f"def bench(url: str = {quoted(self.url)}) -> Bench:")
        if self.framing.why:
            yield f"    # guess: {self.framing.why}"
        yield f"    port = {self.adapter}"
        yield f"    # guess: the slowest answer of the recording took {self.slowest:.3f} s"
        times = f"quiescence={busy + 0.04:.3g}, latency=0.01, busy={busy:g}"
        yield f'    return Bench.on_ports(spec, codec, {{"line": port}}, {times})'


def _in_order(name: str) -> tuple[bool, int, str]:
    found = re.fullmatch(r"u(\d+)(\w*)", name)
    return (True, int(found[1]), found[2]) if found else (False, 0, name)


def _counted(kind: MessageKind) -> str:
    counts = [f"{word} {_times(count)}" for word, count in (("sent", kind.sent), ("seen", kind.seen)) if count]
    return ", ".join(counts).capitalize()


def _case(rule: InputRule, kinds: dict[str, MessageKind], states: StateGuess) -> Iterator[str]:
    name = rule.kind.name
    if rule.varies:
        yield f"        case {name}():"
        yield f"            return  # there were {len(rule.answers)} different answers: say which are right"
        return
    echoed = {own for pairs in rule.echoes.values() for _, own in pairs}
    known = [each.name for each in rule.kind.fields if each.name in echoed]
    yield f"        case {name}({', '.join(f'{each}={each}' for each in known)}):"
    for answer, count in rule.answers.items():
        same = _same(answer, rule)
        outputs = ["same"] if same else _items(answer, kinds)
        silent = "" if answer else ", without an answer"
        then = states.then(name, answer)
        way = f"yield goto({', '.join([quoted(then) if then else 'state', *outputs])})  # {_times(count)}{silent}"
        yield from _guard_lines([*same, way], states.excluding(name, answer))


def _guard_lines(lines: Sequence[str], states: Sequence[str]) -> Iterator[str]:
    """Yield lines for all states except these."""
    if states:
        which = f"!= {quoted(states[0])}" if len(states) == 1 else f"not in ({', '.join(map(quoted, states))})"
        yield f"            if state {which}:"
    indent = " " * (16 if states else 12)
    yield from (f"{indent}{line}" for line in lines)


def _items(answer: AnswerKinds, kinds: dict[str, MessageKind]) -> list[str]:
    # a class is any of its values; one without fields has a single value
    return [name if kinds[name].fields else f"{name}()" for name in answer]


def _same(answer: AnswerKinds, rule: InputRule) -> list[str]:
    """Return the code of an answer that copies fields of the input; nothing if it copies none."""
    pairs, tests = list[str](), f"    lambda out: isinstance(out, {''.join(answer)})"
    for theirs, own in rule.echoes.get(answer, ()):
        more = f" and out.{theirs} == {own}"
        if len(tests) + len(more) <= _WIDEST:
            tests += more
            pairs.append(theirs)
    says = f"{''.join(answer)} with the same {' and '.join(pairs)}"
    return ["same = Where(  # guess", f"{tests},", f'    says="{says}",', ")"] if pairs else []


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _inputs(kind: MessageKind) -> list[str]:
    common = sorted(kind.values, key=lambda values: kind.values[values], reverse=True)
    calls = [f"{kind.name}({', '.join(map(literal, values))})" for values in common]
    short = [call for call in calls if len(call) <= _WIDEST]
    return short[:MOST_INPUTS] or [min(calls, key=len)]


def _round_seconds(seconds: float) -> float:
    digits = 1 - math.floor(math.log10(seconds))
    return round(seconds, digits)
