"""A mail server by SMTP as a model, after RFC 5321: sessions, mail transactions, and the mails that it accepts.

Run it with `otf run smtp`, against aiosmtpd from PyPI.
"""

from otf.models.smtp.bench import bench
from otf.models.smtp.spec import smtp

__all__ = ["bench", "smtp"]
