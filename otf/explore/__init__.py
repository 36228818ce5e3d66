"""Exploration: all states and transitions of a spec, within bounds.

What can be done with a graph: laws and scenarios in `otf.explore.analysis`, conformance and equivalence in
`otf.explore.conform`, timers in `otf.explore.expiring`, pictures in `otf.explore.exports`, files in
`otf.explore.exports`.
"""

from otf.explore.explorer import explore
from otf.explore.graph import Arc, Edge, Graph

__all__ = ["Arc", "Edge", "Graph", "explore"]
