"""An SMTP mail server (RFC 5321): sessions, mail transactions, and accepted mails.

`otf run smtp` tests the mail server aiosmtpd, from PyPI.
"""

from otf.models.smtp.bench import bench
from otf.models.smtp.spec import smtp

__all__ = ["bench", "smtp"]
