"""Small models for tests of exploration."""

from __future__ import annotations

from otf.notations import table

DOOR = table(
    [
        ("closed", "open", [], "open"),
        ("open", "close", ["click"], "closed"),
        ("closed", "lock", ["clack"], "locked"),
        ("locked", "kick", [], "broken"),
        ("broken", "kick", [], "broken"),
    ],
    accepting=["closed", "locked"],
    name="door",
)
