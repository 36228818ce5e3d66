"""Judging offline: recorded traces, captures and the logs of other programs, by the same oracle as live."""

from otf.offline.replay import Judgement, judge

__all__ = ["Judgement", "judge"]
