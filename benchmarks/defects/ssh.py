"""Published defects of SSH servers."""

from __future__ import annotations

from functools import partial
from typing import Final

from benchmarks.defects.published import Defect
from otf.models.ssh.bench import served_by

PARAMIKO: Final = "paramiko_server.py"
PINS: Final = ("cryptography==3.4.8", "six")
"""Old versions take functions from it that newer ones have no more."""
# in their fixed versions they refuse where the standard has them disconnect
REFUSING: Final = partial(served_by, also="refusals")

DEFECTS: Final = (
    Defect(
        package="paramiko",
        bad="2.4.0",
        fixed="2.4.1",
        bench=REFUSING,
        server=PARAMIKO,
        pins=PINS,
        advisory="CVE-2018-7750",
        says="The server does not properly check whether authentication is completed before processing other requests.",
        violates=("RFC4252_6_EARLY",),
    ),
    Defect(
        package="paramiko",
        bad="2.4.1",
        fixed="2.4.2",
        bench=REFUSING,
        server=PARAMIKO,
        pins=PINS,
        advisory="CVE-2018-1000805",
        says="Incorrect access control in the server: a client that sends USERAUTH_SUCCESS is let in.",
        violates=("RFC4252_6_EARLY", "RFC4252_6_CLIENT"),
    ),
    Defect(
        package="asyncssh",
        bad="2.14.0",
        fixed="2.14.1",
        bench=partial(served_by, also="injected"),
        server="asyncssh_server.py",
        advisory="CVE-2023-46446",
        says="Rogue session attack: requests that are injected before the end of the key exchange are acted on.",
        violates=("RFC4253_10_AFTER", "RFC4253_7_3_NEWKEYS"),
    ),
)
"""Each is looked for by the same model, which is older than this list."""
