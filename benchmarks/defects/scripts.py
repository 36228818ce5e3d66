"""The packets that `benchmarks.defects.packets` sends, and what a right broker answers."""

from __future__ import annotations

from typing import Final, NamedTuple


class Script(NamedTuple):
    """Packets of clients; the answer to the last one matches `right` if the broker keeps to the standard.

    A line is a client and a packet in hexadecimal, or a client and `end`, which closes its connection.
    """

    broker: str
    sentence: str
    right: str
    lines: str


A, B = "00 01 61", "00 01 62"
V4, V5 = "00 04 4d 51 54 54 04", "00 04 4d 51 54 54 05"
HOUR: Final = "05 11 00 00 0e 10"
"""The properties of a CONNECT: a Session Expiry Interval."""

SCRIPTS: Final = {
    "second": Script(
        "mosquitto",
        "MQTT-3.1.2-8: the will is published after a second CONNECT",
        r"b: 30",
        f"""
        b 10 0d {V4} 02 00 00 {B}
        b 82 06 00 09 00 01 77 00
        a 10 16 {V4} 06 00 00 {A} 00 01 77 00 04 6c 6f 73 74
        a 10 0d {V4} 02 00 00 {A}
        """,
    ),
    "quota": Script(
        "mosquitto",
        "MQTT 5.0, 4.9: a PUBREC with an error gives the quota back",
        r"a: 32|a: .* 32 07",
        f"""
        a 10 11 {V5} 02 00 00 03 21 00 01 {A}
        a 82 07 00 09 00 00 01 74 02
        a 34 07 00 01 74 00 14 00 31
        a 62 02 00 14
        a 50 03 00 01 80
        a 32 07 00 01 74 00 15 00 32
        """,
    ),
    "overlap": Script(
        "mosquitto",
        "MQTT-3.3.5-1: a message comes with the highest QoS of its subscriptions, 1 of 2 and 0",
        r"32 06",
        f"""
        a 10 0d {V4} 02 00 00 {A}
        a 82 06 00 09 00 01 23 02
        a 82 06 00 09 00 01 74 00
        a 32 06 00 01 74 00 0a 79
        """,
    ),
    "options": Script(
        "mosquitto",
        "MQTT-3.8.4-3: a subscription replaces the one before, here with Retain As Published",
        r"31 05",
        f"""
        a 10 0e {V5} 02 00 00 00 {A}
        a 82 07 00 09 00 00 01 74 00
        a 82 07 00 09 00 00 01 74 09
        a 31 05 00 01 74 00 71
        """,
    ),
    "identifier": Script(
        "mosquitto",
        "MQTT-3.3.4-6: the connection of a client that sends a subscription identifier in a message ends",
        r"end",
        f"""
        a 10 0e {V5} 02 00 00 00 {A}
        a 30 07 00 01 74 02 0b 01 78
        """,
    ),
    "share": Script(
        "mosquitto",
        "MQTT-3.8.3-4: the connection of a client that asks for a shared subscription with No Local ends",
        r"end",
        f"""
        a 10 0e {V5} 02 00 00 00 {A}
        a 82 10 00 09 00 00 0a 24 73 68 61 72 65 2f 67 2f 74 05
        """,
    ),
    "joins": Script(
        "mosquitto",
        "MQTT 5.0, 4.8.2: a new shared subscription gets no retained messages",
        r"^(?!.*31 05)",
        f"""
        a 10 0e {V5} 02 00 00 00 {A}
        a 31 05 00 01 74 00 71
        a 82 10 00 09 00 00 0a 24 73 68 61 72 65 2f 67 2f 74 01
        """,
    ),
    "flags": Script(
        "mosquitto",
        "MQTT-2.2.2-2: the connection of a client that sends wrong flags ends",
        r"end",
        f"""
        a 10 0d {V4} 02 00 00 {A}
        a c1 00
        """,
    ),
    "again": Script(
        "mosquitto",
        "MQTT-4.3.3-2: each copy of a message of QoS 2 gets a PUBREC until its PUBREL",
        r"50 02 00 14",
        f"""
        a 10 0d {V4} 02 00 00 {A}
        a 34 06 00 01 74 00 14 7a
        a 3c 06 00 01 74 00 14 7a
        a 3c 06 00 01 74 00 14 7a
        """,
    ),
    "dup": Script(
        "aedes",
        "MQTT-3.3.1-3: DUP is not passed on to subscribers",
        r"32 06",
        f"""
        a 10 0d {V4} 02 00 00 {A}
        a 82 06 00 09 00 01 74 01
        a 3a 06 00 01 74 00 0a 79
        """,
    ),
    "retained": Script(
        "aedes",
        "MQTT-4.4.0-1: a retained message without an acknowledgement is sent again",
        r"3[3b] 06",
        f"""
        a 10 0d {V4} 00 00 00 {A}
        a 33 06 00 01 74 00 0a 72
        a 82 06 00 09 00 01 74 01
        a end
        a 10 0d {V4} 00 00 00 {A}
        """,
    ),
    "reuse": Script(
        "aedes2",
        "MQTT-3.1.2-4: Clean Start discards the session, and so the identifier 20",
        r"b: 30",
        f"""
        b 10 0e {V5} 02 00 00 00 {B}
        b 82 07 00 09 00 00 01 74 00
        a 10 13 {V5} 00 00 00 {HOUR} {A}
        a 34 07 00 01 74 00 14 00 79
        a end
        a 10 13 {V5} 02 00 00 {HOUR} {A}
        a 34 07 00 01 74 00 14 00 7a
        """,
    ),
    "brief": Script(
        "aedes2",
        "MQTT-3.1.2-5: a session resumes with the messages that waited",
        r"a: .*32 07",
        f"""
        a 10 13 {V5} 02 00 00 {HOUR} {A}
        a 82 07 00 09 00 00 01 71 01
        a end
        b 10 0e {V5} 02 00 00 00 {B}
        b 32 07 00 01 71 00 0a 00 79
        a 10 0e {V5} 00 00 00 00 {A}
        """,
    ),
    "over": Script(
        "aedes2",
        "MQTT-4.1.0-2: a session without an interval ends with its connection, by a take-over too",
        r"a2: 20 .. 00",
        f"""
        a 10 13 {V5} 02 00 00 {HOUR} {A}
        a 82 07 00 09 00 00 01 74 01
        a end
        a 10 0e {V5} 00 00 00 00 {A}
        a2 10 0e {V5} 00 00 00 00 {A}
        """,
    ),
    "window": Script(
        "aedes2",
        "MQTT-3.3.4-9: no second message before the first is acknowledged, if the Receive Maximum is 1",
        r"^(?!.*32 07)",
        f"""
        a 10 11 {V5} 02 00 00 03 21 00 01 {A}
        a 82 07 00 09 00 00 01 77 01
        a 32 07 00 01 77 00 0a 00 79
        a 32 07 00 01 77 00 0b 00 7a
        """,
    ),
    "numbers": Script(
        "aedes2",
        "MQTT-3.3.4-4: one copy has the identifiers 5 and 6 of both subscriptions",
        r"0b 05.*0b 06|0b 06.*0b 05|a: .*32 .*32 ",
        f"""
        a 10 0e {V5} 02 00 00 00 {A}
        a 82 0b 00 09 02 0b 05 00 03 6e 2f 23 01
        a 82 09 00 0a 02 0b 06 00 01 6e 01
        a 32 07 00 01 6e 00 0a 00 79
        """,
    ),
    "utf8": Script(
        "aedes2",
        "MQTT-1.5.4-1: the connection of a client with an ill-formed topic ends",
        r"a: .*end",
        f"""
        a 10 0e {V5} 02 00 00 00 {A}
        a 30 06 00 02 74 ff 00 78
        """,
    ),
}
"""The scripts by the names of the bench's groups of inputs (`also=`)."""
