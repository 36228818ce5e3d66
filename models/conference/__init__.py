"""The conference protocol: one entity, tested through its user's pipes and the UDP sockets of the others.

`otf run conference` tests the reference entity. `--set fault=O7` starts the reference entity with one of its 27 faults.
`--set entity='./my-entity --verbose'` tests another program that speaks the protocol. Source: Koopman and Plasmeijer,
"Testing Reactive Systems with GAST", section 8.3.2.
"""

from otf.models.conference.bench import bench
from otf.models.conference.spec import Conf, Idle, Sizes, conference

__all__ = ["Conf", "Idle", "Sizes", "bench", "conference"]
