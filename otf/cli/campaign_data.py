"""The result of a campaign as JSON data."""

from __future__ import annotations

from typing import Any

from otf.campaign import FailureGroup, Settings, Summary
from otf.cli.output import error_document
from otf.errors import OtfError


def campaign_data(summary: Summary, settings: Settings, error: OtfError | None) -> dict[str, Any]:
    """Return the JSON document of a campaign: keys are in docs/reference-bench.md, and in the schema."""
    parts = summary.parts
    result = {
        **summary.result.data(),
        "verdict": summary.verdict,
        "not_shown": summary.unshown,
        "altered": summary.altered,
        "seed": settings.seed,
        "out": str(settings.out),
        "time": {name: round(seconds, 3) for name, seconds in summary.spent.shares().items()},
        "saved": [
            {"signature": str(each.signature or ""), "trace": str(each.trace), "came": str(each)}
            for each in summary.saved
        ],
        "failures": [_group(group) for group in summary.failures.values()],
        **({"changed": {"transitions": len(parts.changed), "tried": parts.done}} if settings.spend else {}),
    }
    said = {"ruling": "error", "headline": "ERROR: the campaign did not come to its end"}
    return result if error is None else {**result, **said, **error_document(str(error))}


def _group(group: FailureGroup) -> dict[str, Any]:
    shrunk, shortest = group.shrunk, group.result
    return {
        **shortest.data(),
        "first": {"trace": str(group.first.trace), "steps": group.first.steps},
        "shrunk": None
        if shrunk is None
        else {
            "trace": str(shrunk.trace),
            "steps": shrunk.steps,
            "rate": shrunk.rate,
            "minimal": shrunk.minimal,
            "ended": shrunk.ended,
        },
        "unshrunk": group.unshrunk,
    }
