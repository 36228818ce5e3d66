"""Published defects of MQTT brokers."""

from __future__ import annotations

from typing import Final

from benchmarks.defects.published import Defect
from otf.models.mqtt import served_by

AEDES: Final = "aedes.js"

DEFECTS: Final = (
    Defect(
        package="aedes",
        bad="0.26.1",
        fixed="0.30.1",
        bench=served_by,
        server=AEDES,
        registry="npm",
        advisory="issue 132",
        says="Validate topics: # and + are not allowed in PUBLISH.",
        violates=("MQTT-3.3.2-2",),
    ),
    Defect(
        package="aedes",
        bad="0.36.0",
        fixed="0.37.0",
        bench=served_by,
        server=AEDES,
        registry="npm",
        advisory="issue 208",
        says="Aedes publishes with QoS 2 when the client is subscribed with QoS 1.",
        violates=("MQTT-3.8.4-6",),
    ),
)
"""The defects; aedes is asked by MQTT 3.1.1, which all its versions speak."""
