"""Timed systems whose faults lie behind timers, and how long a campaign takes to find them: see `__main__`."""
