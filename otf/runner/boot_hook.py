"""What arrives on the ports while a boot hook runs: some of it may come from before the reset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from otf.adapter import Frame
from otf.adapter.lifecycle import Life
from otf.adapter.log import note
from otf.core import Monitor, Oracle
from otf.runner.codec_cache import CodecCache, Undecided
from otf.runner.wire import Arrived, Wire
from otf.trace.events import Seen, Undecodable
from otf.values import show

AHEAD: Final = 8  # later outputs that decide whether one is of the life before
LONG: Final = 512  # bytes of a frame of which half may be of the life before
WORK: Final = 2_000  # readings that are tried; a flood of lines of the life before must not hold up the run


class LifeBefore:
    """Recognises, among the outputs present when a run begins, those sent before the boot hook reset the system.

    The moment of the reset is unknown. So on each port it drops what the model does not allow, or not before what
    follows, until something allowed comes. A wrong banner therefore fails as a missing one. The first half of a line
    may be of the life before, too, and is dropped.
    """

    def __init__(self, oracle: Oracle, wire: Wire, codec: CodecCache) -> None:
        self._oracle = oracle
        self._wire = wire
        self._codec = codec
        self._left = WORK

    def drop(self, life: Life | None) -> None:
        """Leave in the inbox of the wire only what the system has said since its reset, if its life has a boot hook."""
        if life is None or life.boot is None:
            return
        self._wire.poll()
        arrived, kept, begun = self._wire.arrived(), list[Arrived](), set[str]()
        for number, each in enumerate(arrived):
            rest = [later for later in arrived[number + 1 :] if later.port == each.port][:AHEAD]
            found = each if each.port in begun else self._first(kept, each, rest)
            if found is None:
                note("dropped, as from before the boot hook", "warning", port=each.port, output=show(each.what))
            else:
                kept.append(found)
                begun.add(each.port)
        self._wire.inbox.extend(kept)

    def _first(self, before: Sequence[Arrived], each: Arrived, rest: Sequence[Arrived]) -> Arrived | None:
        """Return an arrival, or the end of it, if it may be the first one after the reset on its port."""
        for form in self._forms(each):
            if self._explains([*before, form]):
                return form if self._explains([*before, form, *rest]) or not self._later(before, rest) else None
        return None

    def _later(self, before: Sequence[Arrived], rest: Sequence[Arrived]) -> bool:
        """Return whether one of the rest may be the first."""
        return any(
            self._explains([*before, form, *rest[number:]])
            for number, each in enumerate(rest, 1)
            for form in self._forms(each)
        )

    def _explains(self, arrived: Iterable[Arrived]) -> bool:
        self._left -= 1
        monitor = Monitor(self._oracle)
        for each in arrived:
            if isinstance(each.what, Frame):
                try:
                    output = self._codec.output(each.port, each.what)
                except Undecided:
                    return False  # a codec need not read half a line
                # it came at some time since the ports were empty
                at = max(0.0, each.at)
                monitor.slack = at + self._wire.unheard
                if isinstance(output, Undecodable) or monitor.tell(Seen(output, each.port, at)) is not None:
                    return False
        return True

    def _forms(self, each: Arrived) -> Iterator[Arrived]:
        """Yield an arrival, and what is left of it without a beginning that may be of the life before."""
        yield each
        if isinstance(each.what, Frame) and not each.what.trouble and len(each.what.data) <= LONG:
            for cut in range(1, len(each.what.data)):
                if self._left <= 0:
                    return
                yield replace(each, what=replace(each.what, data=each.what.data[cut:]))
