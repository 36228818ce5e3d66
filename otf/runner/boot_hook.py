"""Separates outputs sent before a boot hook's reset from those sent after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from otf.adapter import Frame
from otf.adapter.log import note
from otf.core import Monitor, Oracle
from otf.runner.codec_cache import CodecCache, Undecided
from otf.runner.wire import Arrived, Wire
from otf.trace.events import Seen, Undecodable
from otf.values import show

AHEAD: Final = 8  # later outputs considered when deciding whether one was sent before the reset
LONG: Final = 512  # bytes: only in frames up to this length may the first part be from before the reset
WORK: Final = 2_000  # attempts to explain outputs; a flood of old lines must not hold up the run


class LifeBefore:
    """Recognises, among the outputs present when a run begins, those sent before the boot hook reset the system.

    The moment of the reset is unknown. So on each port, outputs are dropped until one comes that the model allows, also
    before those that follow it. A wrong banner therefore fails as a missing one. The first part of a line may be from
    before the reset as well, and is dropped too.
    """

    def __init__(self, oracle: Oracle, wire: Wire, codec: CodecCache) -> None:
        self._oracle = oracle
        self._wire = wire
        self._codec = codec
        self._left = WORK

    def drop(self) -> None:
        """Leave in the wire's inbox only what came after the reset."""
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
        """Return an arrival, or a tail of it, if it may be the first one after the reset on its port."""
        for form in self._forms(each):
            if self._explains([*before, form]):
                return form if self._explains([*before, form, *rest]) or not self._later(before, rest) else None
        return None

    def _later(self, before: Sequence[Arrived], rest: Sequence[Arrived]) -> bool:
        """Return whether one of `rest` may be the first one after the reset."""
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
                    return False  # a codec need not decode half a line
                # it came at some time since the ports were empty
                at = max(0.0, each.at)
                monitor.slack = at + self._wire.unheard
                if isinstance(output, Undecodable) or monitor.tell(Seen(output, each.port, at)) is not None:
                    return False
        return True

    def _forms(self, each: Arrived) -> Iterator[Arrived]:
        """Yield an arrival and then its tails, since any first part of it may come from before the reset."""
        yield each
        if isinstance(each.what, Frame) and not each.what.trouble and len(each.what.data) <= LONG:
            for cut in range(1, len(each.what.data)):
                if self._left <= 0:
                    return
                yield replace(each, what=replace(each.what, data=each.what.data[cut:]))
