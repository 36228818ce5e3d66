"""Every test of an adapter runs on every event loop that there is."""

from importlib.util import find_spec
from typing import Any

import pytest

NO_UVLOOP = pytest.mark.skipif(find_spec("uvloop") is None, reason="uvloop is not installed: the extra `uvloop`")
NO_OPTIONS: dict[str, bool] = {}
LOOPS = [
    pytest.param(("asyncio", NO_OPTIONS), id="asyncio"),
    pytest.param(("asyncio", {"use_uvloop": True}), id="uvloop", marks=NO_UVLOOP),
    pytest.param(("trio", NO_OPTIONS), id="trio"),
]


@pytest.fixture(params=LOOPS)
def anyio_backend(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401 -- what anyio's plugin takes
    """The event loop of a test."""
    return request.param
