"""Engines that play Go, by the Go Text Protocol (GTP) over their pipes; GNU Go by default.

`otf run gtp --set engine='/usr/games/gnugo --mode gtp'` tests the engine with this command line. Sources: Farnebäck,
"Specification of the Go Text Protocol, version 2, draft 2" (2002), and the rules of Go.
"""

from otf.models.gtp.bench import bench
from otf.models.gtp.spec import go

__all__ = ["bench", "go"]
