"""A program that plays Go and speaks the Go Text Protocol (GTP) over pipes; GNU Go by default.

`otf run gtp --set engine='/usr/games/gnugo --mode gtp'` tests the program that this command line starts. Sources:
Farnebäck, "Specification of the Go Text Protocol, version 2, draft 2" (2002), and the rules of Go.
"""

from otf.models.gtp.bench import bench
from otf.models.gtp.spec import go

__all__ = ["bench", "go"]
