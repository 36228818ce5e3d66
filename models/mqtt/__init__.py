"""An MQTT broker, version 3.1.1 or 5, with three clients; after the OASIS standards of 2014 and 2019.

`otf run mqtt` tests mosquitto against version 3.1.1 of MQTT. `--set version=5` tests mosquitto against version 5.0, and
`--set server="COMMAND {port}"` tests another broker.
"""

from otf.models.mqtt.bench import bench, served_by
from otf.models.mqtt.requirements import requirements_of
from otf.models.mqtt.spec import mqtt

__all__ = ["bench", "mqtt", "requirements_of", "served_by"]
