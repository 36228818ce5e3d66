"""How a folder begins anew for a model that has changed: the campaign of the earlier model is set aside.

Its traces belong to another model, and would be judged wrongly beside the new ones. So they are moved to a folder of
their own, with their journal, and nothing is lost. Transitions that are new or have changed come first in the campaign
that begins.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any, Final

import msgspec

from otf.campaign.changes import CHANGED, TRANSITIONS, ChangedTransitions, TransitionPrints, read
from otf.campaign.journal_file import claimed
from otf.campaign.journal_lines import JOURNAL, About
from otf.campaign.journal_reader import Past
from otf.runner.writer import put, writing
from otf.spec import Spec

SHARE: Final = 0.05  # of a campaign's time, for the fingerprints of its model
LONGEST: Final = 10.0  # seconds for them
_OWN: Final = re.compile(r"(path|saved|rerun)[-_].*")
_VERSION: Final = frozenset({"fingerprint", "otf"})


def renew(out: Path, about: About, spec: Spec[Any, Any], seconds: float) -> None:
    """Set the campaign in a folder aside if it was of an earlier model or version.

    Call it before the folder is used, for a campaign that spends so many seconds. Raises UsageError if another run uses
    the folder, WriteError, ModelError.
    """
    past = Past(out)
    differs = set[str]() if past.about is None else _differences(past.about, about)
    if past.about is None or not differs or differs - _VERSION:
        return  # there is nothing, the same campaign goes on, or it is refused: see `Past.check`
    lock = claimed(out, JOURNAL, joins=True)
    try:
        now, before = _prints(spec, seconds), read(out / TRANSITIONS, TransitionPrints)
        _set_aside(out, past.about, _first(out, past, now, before))
        put(out / TRANSITIONS, msgspec.json.encode(now))
    finally:
        os.close(lock)


def keep_transitions(out: Path, spec: Spec[Any, Any], seconds: float) -> None:
    """Store the fingerprints of a model's transitions in the folder for later campaigns, unless they are there."""
    if not (out / TRANSITIONS).exists():
        put(out / TRANSITIONS, msgspec.json.encode(_prints(spec, seconds)))


def _prints(spec: Spec[Any, Any], seconds: float) -> TransitionPrints:
    return TransitionPrints.of(spec, min(SHARE * seconds, LONGEST))


def _differences(was: About, now: About) -> set[str]:
    one, other = was.parts(), now.parts()
    return {name for name in {**one, **other} if one.get(name) != other.get(name)}


def _first(out: Path, past: Past, now: TransitionPrints, before: TransitionPrints | None) -> ChangedTransitions:
    """Return the changed transitions, with those that an earlier change left untried."""
    tried = past.knowledge(past.counted).visits
    left = [pair for pair in ChangedTransitions.of(out).changed if pair not in tried and _has(now, pair)]
    changed = [] if before is None else now.changed(before)
    return ChangedTransitions([*dict.fromkeys([*changed, *left])])


def _has(prints: TransitionPrints, pair: str) -> bool:
    state, _, inp = pair.partition(" ")
    return inp in prints.states.get(state, {})


def _set_aside(out: Path, was: About, first: ChangedTransitions) -> None:
    """Move the campaign in a folder to one below it; killed at any moment, this goes on the next time."""
    aside = _unused(out, str(was.header.get("fingerprint", "")))
    with writing(aside, "the folder of the earlier campaign"):
        aside.mkdir(exist_ok=True)
        for name in (TRANSITIONS, CHANGED):
            if (out / name).is_file():
                shutil.copyfile(out / name, aside / name)
    put(out / CHANGED, msgspec.json.encode(first))
    with writing(aside, "the earlier campaign"):
        for file in sorted(out.iterdir()):
            if _OWN.fullmatch(file.name) and file.is_file():
                file.replace(aside / file.name)
        # the last: until then the folder is that of the earlier model
        (out / JOURNAL).replace(aside / JOURNAL)


def _unused(out: Path, fingerprint: str) -> Path:
    """Return a folder without a campaign, or one to which this was being moved."""
    name, number = re.sub(r"\W", "", fingerprint)[:16] or "unknown", 1
    while ((aside := out / f"before-{name}{f'~{number}' if number > 1 else ''}") / JOURNAL).exists():
        number += 1
    return aside
