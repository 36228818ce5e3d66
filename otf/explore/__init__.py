"""`explore` visits all states and transitions of a model within bounds, without a system.

Laws and scenarios are in `otf.explore.analysis`, conformance and equivalence in `otf.explore.conform`, timers in
`otf.explore.expiring`, pictures and files in `otf.explore.exports`.
"""

from otf.explore.explorer import explore
from otf.explore.graph import Arc, Edge, Graph

__all__ = ["Arc", "Edge", "Graph", "explore"]
