"""Exploration: all states and transitions of a spec, within bounds."""

from otf.explore.explorer import explore
from otf.explore.graph import Arc, Edge, Graph

__all__ = ["Arc", "Edge", "Graph", "explore"]
