"""`otf check FOLDER`: whether a campaign's folder is as written, by the digests in its journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from otf.campaign.believed import OF_PATHS, TraceFile, same_campaign
from otf.campaign.journal_lines import JOURNAL
from otf.cli.output import document, say
from otf.errors import FAIL, INCONCLUSIVE, PASS, TraceError
from otf.trace.reading import BAD_JSON, bounded
from otf.trace.record import LineChain

WHOLE, TORN, EDITED, MIXED, MISSING = "whole", "torn", "edited", "mixed", "missing"
WRONG: Final = (EDITED, MIXED, MISSING)
UNKNOWN: Final = "the journal has no digest of it"


class Found(NamedTuple):
    """A file of a folder, or a line of its journal, and its state."""

    name: str
    state: str
    why: str = ""


class _Line(msgspec.Struct):
    """The fields read from any line of a journal."""

    event: str
    digests: dict[str, str] = {}
    trace: str = ""
    verdict: str = ""
    about: dict[str, Any] | None = None


def check_folder(folder: Path, *, as_json: bool) -> int:
    """Say which parts of a folder are whole; return the exit status."""
    found = [*_found(folder)]
    states = {state: sum(each.state == state for each in found) for state in (WHOLE, TORN, *WRONG)}
    status = FAIL if any(states[state] for state in WRONG) else INCONCLUSIVE if states[TORN] else PASS
    if as_json:
        document({"folder": str(folder), **states, "files": [each._asdict() for each in found]})
        return status
    for each in found:
        if each.state != WHOLE or each.why:
            say(f"{each.state}: {each.name}{each.why and f': {each.why}'}")
    say(f"{folder}: {', '.join(f'{number:,} {state}' for state, number in states.items() if number)}")
    return status


def _found(folder: Path) -> Iterator[Found]:
    try:
        with (folder / JOURNAL).open("rb") as file:
            known, lines = _journal(bounded(file))
    except OSError as error:
        message = f"{folder / JOURNAL}: {error.strerror}; give the folder of a campaign (`otf run` prints it)"
        raise TraceError(message) from error
    yield from lines or [Found(JOURNAL, WHOLE)]
    about = next((line.about for line in reversed(known) if line.about is not None), dict[str, Any]())
    digests = {name: digest for line in known for name, digest in line.digests.items()}
    options: Any = about.get("options")
    keeps_failures = bool(isinstance(options, dict) and options.get("keep") == "failures")  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] -- JSON
    dropped = {line.trace for line in known if line.verdict == "pass" and keeps_failures}
    names = {file.name for file in folder.glob("*.jsonl")} - {JOURNAL}
    for name in sorted(names | digests.keys()):
        if name in names or name not in dropped:
            yield _trace(folder / name, digests.get(name), about.get("header"))


def _journal(lines: Iterable[bytes]) -> tuple[list[_Line], list[Found]]:
    """Return the readable lines of a journal, and what is wrong with the others."""
    chain, known, found = LineChain(), list[_Line](), list[Found]()
    bad = 0  # the previous line, if it is not JSON
    for number, line in enumerate(lines, 1):
        follows = chain.take(line)
        name = f"{JOURNAL}, line {number - 1}"
        if bad:
            found.append(Found(name, TORN if follows else EDITED, "" if follows else "it is not a line of a journal"))
        elif follows is False:
            found.append(
                Found(name, EDITED, f"line {number} has another digest of it, or lines between them are missing")
            )
        bad = 0
        try:
            known.append(msgspec.json.decode(line, type=_Line))
        except BAD_JSON:
            bad = number
    if bad:
        found.append(Found(f"{JOURNAL}, line {bad}", TORN if chain.torn else EDITED, "it is the last one"))
    return known, found


def _trace(file: Path, digest: str | None, header: Any) -> Found:  # noqa: ANN401 -- JSON
    try:
        found = TraceFile.read(file)
    except FileNotFoundError:
        return Found(file.name, MISSING, "its path counts, and its trace has gone")
    except OSError as error:
        return Found(file.name, EDITED, f"it cannot be read ({error.strerror or 'it is not a file'})")
    if isinstance(header, dict) and OF_PATHS.fullmatch(file.name) and not same_campaign(found.header, header):  # pyright: ignore[reportUnknownArgumentType] -- JSON
        return Found(file.name, MIXED if found.header else EDITED, "by its header it is of another campaign")
    if digest is not None:
        changed = found.digest != digest
        return Found(file.name, EDITED if changed else WHOLE, "the journal has another digest of it" if changed else "")
    return Found(file.name, WHOLE if found.whole else TORN, UNKNOWN if found.whole else "it has no end")
