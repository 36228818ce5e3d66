"""What happened, as data: events, verdicts, and their form in a trace file."""
