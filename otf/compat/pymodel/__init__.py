"""PyModel's modules as they are: its model programs, machines, suites and steppers as specs and benches."""

from otf.compat.pymodel.loading import Loaded, load
from otf.compat.pymodel.product import Composition

__all__ = ["Composition", "Loaded", "load"]
