"""The kinds of failure of a campaign: failures with one cause are one kind, and each new one may tell others apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from otf.campaign.results import FailureGroup, PathResult
from otf.trace.clock import TimedOutput, by_clock, timed_output
from otf.trace.events import Sent
from otf.trace.kinds import Kinds, Scope
from otf.trace.verdict import Failure, Signature
from otf.values import show

APART: Final = Scope(parts=("state", "input"))
"""How to tell a defect from another with the same signature: by where its shortest run fails."""


@dataclass(slots=True)
class FailureKinds:
    """The `failures` so far, by kind.

    `kinds` tells failures apart; those found to be the `same` count with another kind. `apart` holds, by fingerprint,
    the kinds of failures whose shortest runs showed a defect other than their signature's. `alike` groups failures with
    the same values, by fingerprint.
    """

    failures: dict[Signature, FailureGroup] = field(default_factory=dict[Signature, FailureGroup])
    kinds: Kinds = field(default_factory=Kinds)
    same: dict[Signature, Signature] = field(default_factory=dict[Signature, Signature])
    apart: dict[str, Signature] = field(default_factory=dict[str, Signature])
    # outputs that come by the system's own clock, by the signatures of runs without any input
    _clocks: dict[Signature, TimedOutput] = field(default_factory=dict[Signature, TimedOutput], repr=False)
    alike: dict[str, FailureGroup] = field(default_factory=dict[str, FailureGroup], repr=False)

    def failed(self, found: FailureGroup) -> None:
        """Add a failure, which may tell kinds apart, or show that two are one."""
        signature = found.signature
        same = self.alike.setdefault(signature.fingerprint, found)
        self.kinds.add(signature, found.first.passed)
        # a different failure that counts with this one does not explain it
        failure = found.first.verdict.failure
        shown = found.first if failure is not None and failure.signature == signature else None
        if same is not found:
            same.count += found.count
            same.meet(shown)
        group = self.failures.get(self._kind(found))
        if same is found or group is None:
            self.regroup()
        else:
            group.count += found.count
            group.meet(shown)

    def merge_shrunk(self) -> None:
        """Count failures with others that shrunk runs show to be the same: races of the same inputs, ports, and clocks.

        The same run fails on one port or another, whichever speaks first. A run without any input shows a clock:
        failures with its output at its time are one kind.
        """
        if self.kinds.parts is not None:
            return
        firsts = dict[tuple[str, ...], tuple[FailureGroup, str]]()
        for group in [*self.failures.values()]:
            shown = None if group.shrunk is None else group.shrunk.verdict.failure
            if shown is None or group.shrunk is None:
                continue
            other = self.failures.get(self.kind_of(shown.signature))
            if shown.signature.meets and other is not None and other is not group:
                self.merge(group, other)
            inputs = tuple(show(each.input) for each in group.shrunk.events if isinstance(each, Sent))
            first, port = firsts.setdefault(inputs, (group, shown.port))
            if port != shown.port and not shown.signature.meets:
                self.merge(group, first)
        runs = [(each.shrunk.verdict.failure, each.shrunk.events) for each in self.failures.values() if each.shrunk]
        found = {run[0].signature: clock for run in runs if run[0] is not None and (clock := by_clock(*run))}
        if found.keys() - self._clocks.keys():
            self._clocks |= found
            self.regroup()

    def now(self, group: FailureGroup) -> FailureGroup:
        """Return the group that another one's failures count with now."""
        return self.failures.get(self._kind(group), group)

    def _kind(self, found: FailureGroup) -> Signature:
        if self._clocks:
            seen = timed_output(found.first.verdict.failure, found.first.events)
            for signature, clock in self._clocks.items():
                if seen is not None and seen.matches(clock):
                    return signature
        return self.kind_of(found.signature)

    def kind_of(self, signature: Signature) -> Signature:
        """Return the current kind of a failure with this signature."""
        return self._final_kind(self.apart.get(signature.fingerprint) or self.kinds.of(signature))

    def regroup(self) -> None:
        """Regroup the failures by the kinds known now; a shrunk trace stays with the kind that it shows."""
        before, self.failures = self.failures, {}
        # not in the order in which paths ended, which depends on the speed of workers
        for each in sorted(self.alike.values(), key=lambda each: each.first.place):
            kind = self._kind(each)
            group = self.failures.get(kind)
            if group is None:
                group = self.failures[kind] = before.get(kind) or FailureGroup(
                    kind, each.first, tries=each.tries, behind=each.behind
                )
                group.count = 0
            group.count += each.count
            group.meet(each.first)
            group.meet(each.shorter)
        for group in before.values():
            shown = None if group.shrunk is None else group.shrunk.verdict.failure
            if shown is not None and group.signature not in self.failures:
                now = self.failures.get(self.kind_of(shown.signature))
                if now is not None and now.shrunk is None:
                    now.shrunk = group.shrunk

    def names(self) -> dict[str, str]:
        """Return the kinds of failures by fingerprint, if they differ from the signatures."""
        kinds = {name: self._kind(each) for name, each in self.alike.items()}
        told = {name: str(kind) for name, kind in kinds.items() if kind != self.alike[name].signature}
        for kind, group in self.failures.items():
            shown = None if group.shrunk is None else group.shrunk.verdict.failure
            if shown is not None and kind != shown.signature:
                told[shown.signature.fingerprint] = str(kind)
        return told

    def to_shrink(self, group: FailureGroup) -> tuple[PathResult, Scope]:
        """Return the path to shrink for a kind, and what tells the kind from others with its signature."""
        for each in self.alike.values():
            if each.signature.fingerprint in self.apart and APART.of(each.signature) == group.signature:
                # by its input alone, the search would find the other defect, which is shorter
                return each.first, APART
        failure = group.first.verdict.failure
        return group.first, Scope() if failure is None else self.kinds.scope(failure.signature)

    def with_other_inputs(self, group: FailureGroup, shown: Failure) -> list[FailureGroup]:
        """Return the failures of a kind at inputs other than the shown one; none if the system names the kind."""
        own = shown.signature.exact
        if own is not None and self.kinds.scope(shown.signature).is_named(own):
            return []
        found = ((each, each.signature.exact) for each in self._of_kind(group))
        return [each for each, exact in found if own is not None and exact is not None and exact.input != own.input]

    def tell_apart(self, group: FailureGroup, failures: Sequence[FailureGroup]) -> None:
        """Count failures of a kind as a separate kind, named by the values of the first."""
        if not (left := [each for each in self._of_kind(group) if each not in failures]):
            return  # no path has shown the other defect
        kind = APART.of(failures[0].signature)
        self.apart |= {each.signature.fingerprint: kind for each in failures}
        group.first, group.shorter = left[0].first, None
        self.regroup()

    def _of_kind(self, group: FailureGroup) -> list[FailureGroup]:
        found = [each for each in self.alike.values() if self._kind(each) == group.signature]
        return sorted(found, key=lambda each: each.first.place)

    def merge(self, kind: FailureGroup, other: FailureGroup) -> None:
        """Count the failures of one kind with those of another: both show the same defect."""
        self.same[kind.signature] = other.signature
        self.regroup()

    def _final_kind(self, kind: Signature) -> Signature:
        seen = {kind}
        while (other := self.same.get(kind)) is not None and other not in seen:
            seen.add(kind := other)
        return kind
