"""A job queue, by TCP from two clients; beanstalkd if no other is named.

Source: the file protocol.txt of beanstalkd, which is the definition of its protocol. A client that asks for a job while
there is none is answered later, when another client puts one, or when a time runs out: a delay, or the time-to-run of a
job that another client has reserved.
"""

from otf.models.jobs.bench import bench
from otf.models.jobs.spec import jobs

__all__ = ["bench", "jobs"]
