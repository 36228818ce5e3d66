"""Models and harnesses that were written for other tools, run as they are."""
