"""PyModel's modules, unchanged: model programs, finite machines, test suites and steppers as specs and benches."""

from otf.compat.pymodel.bench import bench
from otf.compat.pymodel.driving import StepperFailed, Waits
from otf.compat.pymodel.loading import Live, Loaded, load
from otf.compat.pymodel.product import Composition, Numbers, explored
from otf.compat.pymodel.strategy import selecting, tidying

__all__ = [
    "Composition",
    "Live",
    "Loaded",
    "Numbers",
    "StepperFailed",
    "Waits",
    "bench",
    "explored",
    "load",
    "selecting",
    "tidying",
]
