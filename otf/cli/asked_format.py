"""The format that a command line asks for, read before its parser is imported."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def asks_json(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for one JSON document."""
    return not {"--json", "--format=json"}.isdisjoint(arguments) or ("--format", "json") in pairwise(arguments)
