"""Published defects of SMTP servers."""

from __future__ import annotations

from typing import Final

from benchmarks.defects.published import Defect
from otf.models.smtp.bench import SERVER, served_by

AIOSMTPD: Final = str(SERVER)
NODE: Final = "smtp-server.js"

DEFECTS: Final = (
    Defect(
        package="aiosmtpd",
        bad="1.4.4",
        fixed="1.4.5",
        bench=served_by,
        server=AIOSMTPD,
        advisory="CVE-2024-27305",
        says="Fixed incorrect handling of newlines (SMTP smuggling).",
        violates=("RFC5321_4_1_1_4_END",),
    ),
    Defect(
        package="aiosmtpd",
        bad="1.4.5",
        fixed="1.4.6",
        bench=served_by,
        server=AIOSMTPD,
        advisory="CVE-2024-34083",
        says="STARTTLS is now fully enforced if used (unencrypted commands were answered after TLS).",
        violates=("RFC3207_4_2_DISCARD",),
    ),
    Defect(
        package="aiosmtpd",
        bad="1.2",
        fixed="1.2.2",
        bench=served_by,
        server=AIOSMTPD,
        advisory="NEWS 1.2.2",
        says="Don't strip last \\r\\n prior to terminating dot.",
        violates=("RFC5321_4_1_1_4_OK",),
    ),
    Defect(
        package="aiosmtpd",
        bad="1.2.2",
        fixed="1.2.4",
        bench=served_by,
        server=AIOSMTPD,
        advisory="NEWS 1.2.3",
        says="Delay all SMTP Status Code replies during DATA phase until the phase termination.",
        violates=("RFC5321_4_5_3_1_6", "RFC5321_4_1_1_4_END"),
    ),
    Defect(
        package="smtp-server",
        bad="3.19.17",
        fixed="3.21.1",
        bench=served_by,
        server=NODE,
        registry="npm",
        advisory="CHANGELOG 3.19.21",
        says="align replies with RFC 5321 and fix a crash after STARTTLS",
        violates=("RFC5321_4_5_1_POSTMASTER", "RFC5321_3_3_RCPT"),
    ),
    Defect(
        package="smtp-server",
        bad="3.19.17",
        fixed="3.21.1",
        bench=served_by,
        server=NODE,
        registry="npm",
        advisory="CHANGELOG 3.19.23",
        says="close the STARTTLS plaintext injection race",
        violates=("RFC3207_4_2_DISCARD",),
    ),
    Defect(
        package="smtp-server",
        bad="3.19.2",
        fixed="3.19.3",
        bench=served_by,
        server=NODE,
        registry="npm",
        advisory="CHANGELOG 3.19.3",
        says="harden STARTTLS, DATA parsing and proxy command handling",
        violates=("RFC3207_4_2_DISCARD", "RFC5321_4_1_1_4_END"),
    ),
)
"""Each is looked for by the same model, which is older than this list."""
