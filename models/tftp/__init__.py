"""A TFTP server, over UDP: it transfers files in blocks; each is acknowledged, or else sent again.

`otf run tftp` tests atftpd, and `otf run tftp --set server=hpa` tests tftpd-hpa, both against one spec. Sources: RFC
1350 (the TFTP protocol) and RFC 1123, section 4.2.3.1. RFC 1123 corrects RFC 1350: a server sends no data after a
duplicate acknowledgement.
"""

from otf.models.tftp.bench import bench
from otf.models.tftp.spec import tftp

__all__ = ["bench", "tftp"]
