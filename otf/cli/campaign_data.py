"""The result of a campaign as JSON data."""

from __future__ import annotations

from typing import Any

from otf.campaign import FailureGroup, Settings, Summary
from otf.campaign.turns import SpentParts
from otf.cli.output import error_document
from otf.errors import OtfError
from otf.trace.result import CampaignResult


def campaign_data(summary: Summary, settings: Settings, error: OtfError | None) -> dict[str, Any]:
    """Return the JSON document of a campaign: keys are in docs/reference-bench.md, and in the schema."""
    result = {
        "verdict": summary.verdict,
        "paths": summary.paths,
        "steps": summary.steps,
        "truncated": summary.truncated,
        "late": summary.late,
        "silence": summary.silence,
        "seed": settings.seed,
        "out": str(settings.out),
        "interrupted": summary.interrupted,
        "trouble": summary.trouble,
        "time": {name: round(seconds, 3) for name, seconds in summary.spent.shares().items()},
        "saved": [
            {"signature": str(each.signature or ""), "trace": str(each.trace), "came": str(each)}
            for each in summary.saved
        ],
        "failures": [_group(group) for group in summary.failures.values()],
        **lists(summary.result),
        **({"parts": _parts(summary.parts)} if settings.spend else {}),
    }
    return result if error is None else {**result, **error_document(str(error))}


def _group(group: FailureGroup) -> dict[str, Any]:
    shrunk = group.shrunk
    return {
        "signature": str(group.signature),
        "count": group.count,
        "trace": str(group.first.trace),
        "steps": group.first.steps,
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


def _parts(parts: SpentParts) -> dict[str, Any]:
    seconds = {name: round(each, 3) for name, each in parts.seconds.items()}
    return {"seconds": seconds, "changed": len(parts.changed), "tried": parts.done}


def lists(result: CampaignResult) -> dict[str, Any]:
    """Return what a JSON document has of the known issues and the inconclusive paths, beside the failures."""
    return {
        "passed": result.passed,
        "failed_starts": result.failed_starts,
        "departures": [
            {"says": each.says, "count": each.paths, "trace": each.trace or None} for each in result.known_issues
        ],
        "inconclusive": [{"why": each.why, "count": each.paths, "trace": each.trace} for each in result.inconclusive],
        "requirements": [
            {"id": each.requirement.id, "level": each.requirement.level, "status": each.status}
            for each in result.requirements
        ],
    }
