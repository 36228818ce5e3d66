"""Tables of requirements: what a row and a member of an enumeration may be."""

from __future__ import annotations

from enum import Enum

import pytest

from otf.errors import UsageError
from otf.spec import Requirements


def test_a_member_that_is_no_requirement_is_named() -> None:
    """A value without a text is refused, and the message shows what is right."""

    class Lamp(Enum):
        R1 = "MUST"

    with pytest.raises(UsageError, match=r"Lamp.R1 = 'MUST': write its level and its text, such as \('MUST',"):
        Requirements.from_enum(Lamp)
