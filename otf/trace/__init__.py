"""The events and verdicts of runs as data, and their form in trace files."""
