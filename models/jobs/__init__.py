"""A job queue, over TCP from two clients; beanstalkd by default.

`otf run jobs --set server='my-server {host} {port}'` tests a server of your own. Source: the file protocol.txt of
beanstalkd, which defines the protocol. If a client asks for a job while the queue is empty, the server answers later.
The server answers the waiting client when another client puts a job, when a job's delay is over, or when another client
has held a job for too long.
"""

from otf.models.jobs.bench import bench
from otf.models.jobs.spec import jobs

__all__ = ["bench", "jobs"]
