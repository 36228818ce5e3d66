"""An SSH server: key exchange, services, authentication and channels (RFC 4252, 4253 and 4254).

`otf run ssh` tests the SSH server of paramiko, from PyPI.
"""

from otf.models.ssh.bench import bench
from otf.models.ssh.spec import ssh

__all__ = ["bench", "ssh"]
