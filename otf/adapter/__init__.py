"""The classes and functions for writing a bench and your own adapter.

`Bench` combines a spec with a codec and ports. The parts of a bench are `Life` (start, reset, health), `Barrier`,
`KnownIssue` and `Limits`. `Codec`, `lines`, `PortAction` and `CodecError` are for writing codecs. otf itself produces
the outputs `Ended` (the system closed a port) and `Undecodable` (the codec rejected bytes). `lossy`, `duplicating` and
`reordering` return a model of a system behind a network that loses, copies or reorders messages. `trace_may_set` lists
the parameters of a bench that a trace file may set.

Your own adapter returns a `Port`, a function that opens a connection (a `Line`). `Line.receive` returns a list of what
arrived: each a `Frame`, an `Ending` or a `Trouble`. `otf.adapters` contains the adapters of otf, `otf.framing` the
framings. Tests for your own codec, framing or adapter are in `otf.testing`.
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
