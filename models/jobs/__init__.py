"""A job queue, over TCP from two clients; beanstalkd by default.

Source: the file protocol.txt of beanstalkd, which is the definition of its protocol. If a client asks for a job while
there is none, the answer comes later: when another client puts one, or when a time runs out, such as a delay, or the
time-to-run of a job that another client has reserved.
"""

from otf.models.jobs.bench import bench
from otf.models.jobs.spec import jobs

__all__ = ["bench", "jobs"]
