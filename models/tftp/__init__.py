"""A TFTP server, over UDP, which transfers files in blocks and repeats a block that is not acknowledged.

`otf run tftp` tests atftpd, and `otf run tftp --set server=hpa` tests tftpd-hpa, both against one spec. Sources: RFC
1350 (the TFTP protocol) and RFC 1123, section 4.2.3.1. RFC 1123 corrects RFC 1350: a server sends no data after a
duplicate acknowledgement.
"""

from otf.models.tftp.bench import bench
from otf.models.tftp.spec import tftp

__all__ = ["bench", "tftp"]
