"""The conference protocol: one entity, tested as its user over pipes and as all other entities over UDP.

`otf run conference` tests the *reference entity*, an example program that comes with otf. `--set fault=O7` switches on
one of the 27 defects built into the reference entity. `--set entity='./my-entity --verbose'` tests your own program for
the conference protocol. Source: Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.3.2.
"""

from otf.models.conference.bench import bench
from otf.models.conference.spec import Conf, Idle, Sizes, conference

__all__ = ["Conf", "Idle", "Sizes", "bench", "conference"]
