"""Drafts of benches from recorded conversations: otf guesses the messages, the codec and a first model.

`draft_bench` reads a capture or a log of a conversation, and returns the text of a Python file with a bench. The
recording may come from a stranger, so otf executes nothing in it. The text of the recording gets into the Python file
only as literals, and as names made of letters and digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO, Final

from otf.draft.binary import binary_kinds
from otf.draft.dialogue import Utterance, cut, is_text, read_dialogue
from otf.draft.kinds import MessageKind, Parsed, nested_object, object_kinds
from otf.draft.model import AnswerKinds, exchanges, guess_states, rules
from otf.draft.texts import text_kinds
from otf.draft.writing import Draft

_SLOWEST: Final = 5.0
"""Seconds after which an output is hardly an answer any more."""


def draft_bench(file: BinaryIO, recording: str, name: str, url: str = "") -> Draft:
    r"""Return the draft of a bench for the system in a recording.

    `recording` is the file's name, and `name` is that of the bench. `url` is the address of the system, for a recording
    without addresses. `draft_bench` raises UsageError if the recording has no messages.

    >>> from io import BytesIO
    >>> made = draft_bench(BytesIO(b"> press\n< on\n> press\n< off\n"), "lamp.log", "lamp", "tcp://127.0.0.1:7000")
    >>> [kind.name for kind in made.kinds]
    ['Press', 'On', 'Off']
    """
    dialogue, framing = cut(read_dialogue(file, recording, url))
    utterances = dialogue.utterances
    objects = object_kinds(utterances)
    if objects is not None:
        parsed = objects
    elif all(is_text(each.data) for each in utterances):
        parsed = text_kinds(utterances)
    else:
        utterances = [each for each in utterances if each.data]  # an empty binary message has no type
        parsed = binary_kinds(utterances)
    kinds = _counted(utterances, parsed)
    found = list(exchanges(utterances, parsed))
    slowest = max((each.seconds for each in found if each.seconds < _SLOWEST), default=0.0)
    greeting = _greeting(utterances, parsed)
    made, nested = ("from_json", "") if objects is not None else ("", nested_object(utterances))
    notes = [*dialogue.notes, *([nested] if nested else [])]
    states = guess_states(found) if len({each.client for each in utterances}) == 1 else None
    return Draft(name, dialogue.url, kinds, rules(found), greeting, framing, slowest, notes, made, states)


def _counted(utterances: Sequence[Utterance], parsed: Sequence[Parsed]) -> list[MessageKind]:
    """Return the kinds, inputs first, with how often each went which way."""
    kinds: dict[str, MessageKind] = {}
    for each, (kind, values) in zip(utterances, parsed, strict=True):
        kinds[kind.name] = kind
        if each.sent:
            kind.sent += 1
            kind.values[values] = kind.values.get(values, 0) + 1
        else:
            kind.seen += 1
    return sorted(kinds.values(), key=lambda kind: not kind.sent)


def _greeting(utterances: Sequence[Utterance], parsed: Sequence[Parsed]) -> AnswerKinds:
    """Return what each client heard before it said anything, if that was the same for all of them."""
    heard: dict[int, list[str]] = {}
    begun = set[int]()
    for each, message in zip(utterances, parsed, strict=True):
        begun |= {each.client} if each.sent else set()
        greeting = heard.setdefault(each.client, [])
        if each.client not in begun:
            greeting.append(message.kind.name)
    every = {tuple(each) for each in heard.values()}
    return every.pop() if len(every) == 1 else ()


__all__ = ["Draft", "draft_bench"]
