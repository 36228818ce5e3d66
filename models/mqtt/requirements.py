"""The normative statements about a server of MQTT 3.1.1 and of MQTT 5.0, by the numbers of the standards.

The tables leave out statements about the client alone, such as sending a PINGREQ. They keep those whose violation makes
the server close the connection: 3.1.0-1 says that the first packet is a CONNECT, and 4.8.0-1 of MQTT 3.1.1 (4.13.1-1 of
MQTT 5.0) says what the server does otherwise. Some sentences are shortened.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from otf.codec.mqtt import MqttVersion
from otf.spec import Requirements

_TABLES: Final[dict[MqttVersion, str]] = {4: "mqtt311.csv", 5: "mqtt5.csv"}


@cache
def requirements_of(version: MqttVersion) -> Requirements:
    """Return the table of a version.

    >>> requirements_of(4)["MQTT-3.12.4-1"].text
    'The Server MUST send a PINGRESP Packet in response to a PINGREQ Packet.'
    """
    return Requirements.from_csv(Path(__file__).with_name(_TABLES[version]).read_text(encoding="utf-8"))
