"""Everything that a bench is made of: the bench itself, its parts, and the interface of an adapter.

`Bench` combines a spec with a codec and ports. The parts of a bench are `Life` (start, reset, health), `Barrier`,
`KnownIssue` and `Limits`. `otf.adapter` also has codecs (`Codec`, `lines`, `PortAction`, `CodecError`), and the outputs
that no codec produces (`Ended`, `Undecodable`). `lossy`, `duplicating` and `reordering` put a net in front of a model.
`trace_may_set` says which parameters of a bench a trace may choose.

An adapter of your own returns a `Port`, which opens a `Line`. A line receives frames, an `Ending`, or `Trouble`. The
adapters of otf are in `otf.adapters`, framings are in `otf.framing`. Tests for your own codec, framing or adapter are
in `otf.testing`.
"""

from typing import TYPE_CHECKING

from otf._exports import fetching

if TYPE_CHECKING:
    from otf.adapter.bench import Bench
    from otf.adapter.bench_options import Connect, KnownIssue, Opener, trace_may_set
    from otf.adapter.board import Flash, Recording, Snapshot, command_qemu
    from otf.adapter.child.server import Listening
    from otf.adapter.lifecycle import Life
    from otf.adapter.line import LINE_PROTOCOL, Arrival, Ending, Line, LineLost, Port, Trouble
    from otf.adapter.reset import Expect
    from otf.channels import duplicating, lossy, reordering
    from otf.codec import Codec, PortAction, lines
    from otf.core import Barrier, InputMode, Limits
    from otf.errors import CodecError
    from otf.framing import Frame, Framer, Framing
    from otf.trace import Ended, Undecodable

__all__ = [
    "LINE_PROTOCOL",
    "Arrival",
    "Barrier",
    "Bench",
    "Codec",
    "CodecError",
    "Connect",
    "Ended",
    "Ending",
    "Expect",
    "Flash",
    "Frame",
    "Framer",
    "Framing",
    "InputMode",
    "KnownIssue",
    "Life",
    "Limits",
    "Line",
    "LineLost",
    "Listening",
    "Opener",
    "Port",
    "PortAction",
    "Recording",
    "Snapshot",
    "Trouble",
    "Undecodable",
    "command_qemu",
    "duplicating",
    "lines",
    "lossy",
    "reordering",
    "trace_may_set",
]

if not TYPE_CHECKING:
    __getattr__ = fetching(__name__)
