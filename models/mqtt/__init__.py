"""An MQTT broker, version 3.1.1 or 5, with several clients; after the OASIS standards of 2014 and 2019."""

from otf.models.mqtt.requirements import requirements_of

__all__ = ["requirements_of"]
