"""A TFTP server, over UDP: it transfers files in blocks; each is acknowledged, or else sent again.

`otf run tftp` tests atftpd, and `--set server=hpa` tests tftpd-hpa, against the same spec. Sources: RFC 1350 (the TFTP
protocol) and RFC 1123, section 4.2.3.1, which corrects it: a duplicate acknowledgement brings no data.
"""

from otf.models.tftp.bench import bench
from otf.models.tftp.spec import tftp

__all__ = ["bench", "tftp"]
