"""A TFTP server, by UDP: files are read and written in blocks, each of which is acknowledged, and sent again if not.

`otf run tftp` tests atftpd, `--set server=hpa` tests tftpd-hpa, by the same spec. Sources: RFC 1350 (the TFTP protocol)
and RFC 1123, section 4.2.3.1, which corrects it: a duplicate acknowledgement brings no data.
"""

from otf.models.tftp.bench import bench
from otf.models.tftp.spec import tftp

__all__ = ["bench", "tftp"]
