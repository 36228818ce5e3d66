"""The methods in the reference: those that users call, each with an example.

What only otf itself calls on its objects stays out. A method without an example of its own leads to the example of its
class or of a base, if that calls or defines the method.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import griffe

ENGINE: Final[Mapping[str, str]] = {
    "adapter.bench.Bench": "by_reset known_issue open",
    "adapter.bench_options.KnownIssue": "is_sound",
    "adapter.board.Flash": "once",
    "adapter.board.Recording": "file",
    "adapter.board.Snapshot": "save restored",
    "adapter.faults.Faults": "fault",
    "adapter.lifecycle.Life": "by_reset",
    "campaign.failure_kinds.FailureKinds": "failed merge_shrunk now kind_of regroup names to_shrink with_other_inputs "
    "tell_apart merge",
    "campaign.results.FailureGroup": "meet",
    "campaign.results.PathResult": "upto is_longer",
    "campaign.settings.Settings": "lane_of",
    "campaign.summary.Summary": "behind taken_out unconfirmed kept conclude rest admit",
    "channels.Unreliable": "of completed remade",
    "codec.LineCodec": "misfit",
    "codec.fields.Extent": "limits",
    "codec.records.RecordCodec": "seal",
    "compat.pymodel.product.Composition": "split effects enabled",
    "core.compile.Routes": "check_type only known",
    "core.model.Model": "place output_symbol windows offered called sets_timers",
    "core.monitor.Monitor": "guess would due timers pending",
    "core.oracle.Oracle": "following for_guesses guessed anywhere silence_of answers_of",
    "core.pacing.Strict": "ready pause learn",
    "core.session.Session": "skip hindrance plan view pinged pong proven silence",
    "core.timing.Timing": "round_trip learn slept",
    "explore.graph.Graph": "span source within",
    "logic.judging.Property": "judged",
    "mutation.MutationReport": "of",
    "spec.Spec": "completed remade",
    "spec.outputs.Accept": "closing_states full",
    "strategy.coverage.Coverage": "note",
    "strategy.coverage.Until": "check",
    "suite.Method": "machine",
    "trace.reading.TraceReader": "skip fail",
    "trace.verdict.Verdict": "after",
}
"""The methods that only otf calls, for each class."""


class Members(griffe.Extension):
    """Leaves out methods, and leads from the others to examples."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:  # noqa: ANN401 -- what griffe may pass one day
        """Change the classes of a package."""
        for path, names in ENGINE.items():
            for name in names.split():
                pkg[path].members.pop(name, None)
        for path in sorted({*_classes(pkg)}):
            # inherited methods share their text with the class that defines them
            for method in pkg[path].members.values():
                if method.is_function and not method.is_alias:
                    _lead(method, pkg[path])


def _classes(inside: griffe.Object | griffe.Alias) -> list[str]:
    """Return the paths of the classes in a package, without the package."""
    own = [each for each in inside.members.values() if not each.is_alias]
    inner = [path for each in own if not each.is_class for path in _classes(each)]  # a function may hide a module
    return [each.path.partition(".")[2] for each in own if each.is_class] + inner


def _lead(method: griffe.Function, cls: griffe.Class) -> None:
    calls, told = re.compile(rf"(\.|def ){method.name}\("), method.docstring
    if told is None or ">>> " in told.value:
        return
    for each in (cls, *cls.mro()):
        if each.docstring and calls.search(each.docstring.value.partition(">>> ")[2]):
            told.value += f"\n\nExample: [`{each.name}`][{each.path}]."
            return
