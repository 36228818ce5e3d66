"""Contract tests for a codec, a framing or an adapter of your own: plain functions that raise AssertionError.

| you wrote | its protocol | what tests it |
|---|---|---|
| a codec | `otf.codec.Codec` | `check_codec(codec, values)` |
| a framing | `otf.framing.Framer` | `check_framing(framing, frames)` |
| an adapter | `otf.adapter.Line` | `check_adapter(rig)`, or each of `ADAPTER_CHECKS` by itself |

The contract tests need no pytest, and also work in pytest: `def test_codec(): check_codec(MyCodec(), VALUES)`.
"""

from otf.testing.adapter import ADAPTER_CHECKS, Echo, Rig, arrive, check_adapter
from otf.testing.codec import check_codec
from otf.testing.framing import check_framing

__all__ = ["ADAPTER_CHECKS", "Echo", "Rig", "arrive", "check_adapter", "check_codec", "check_framing"]
