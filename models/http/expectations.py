"""The responses that a web server may give, with examples: how it serves or refuses a request, and what ends it.

What counts in a response is its status, whether it ends the connection, and its content if the request determines it.
An example is a response for a model that acts as a server; anything else that a real server says is open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from otf.models.http.messages import PORT, RawResponse
from otf.spec import OneOf, Where, on
from otf.trace.events import Ended

BLANKS: Final = re.compile(r"[ \t]+", re.ASCII)
_OK, _CONTINUE = 200, 100


@dataclass(frozen=True, slots=True)
class ServedTest:
    """Tests whether a response is the application's answer to a request, and whether it may end the connection."""

    contents: frozenset[str]
    coded: bool
    closes: bool
    dated: bool

    def __call__(self, output: object) -> bool:
        """Return whether the output is such a response."""
        return (
            isinstance(output, RawResponse)
            and output.status == _OK
            and (not self.contents or BLANKS.sub(" ", output.content) in self.contents)
            and (self.coded or not output.coded)
            and self.closes == output.closes
            and not output.version
            and (output.dated or not self.dated)
        )

    def expectation(self, says: str) -> Where:
        """Return what it accepts, with an example."""
        return Where(self, says, (RawResponse(_OK, min(self.contents, default="a page"), closes=self.closes),))


@dataclass(frozen=True, slots=True)
class RefusedTest:
    """Tests whether a response has one of these statuses, and whether it may end the connection."""

    codes: frozenset[int]
    closes: bool | None
    dated: bool

    def __call__(self, output: object) -> bool:
        """Return whether the output is such a response."""
        return (
            isinstance(output, RawResponse)
            and output.status in self.codes
            and self.closes in {None, output.closes}
            and not output.version
            and (output.dated or not self.dated or output.status >= 500)  # noqa: PLR2004 -- the first server error
        )

    def expectation(self, says: str) -> Where:
        """Return what it accepts, with examples."""
        ends = (False, True) if self.closes is None else (self.closes,)
        return Where(self, says, tuple(RawResponse(min(self.codes), closes=each) for each in ends))


INTERIM: Final = on(
    PORT,
    Where(
        lambda output: isinstance(output, RawResponse) and output.status == _CONTINUE, "100", (RawResponse(_CONTINUE),)
    ),
)
END: Final = on(PORT, Ended)
RESET: Final = OneOf(*(on(PORT, Ended(each)) for each in ("connection reset", "closed by the other side")))
