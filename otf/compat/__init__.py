"""Models and harnesses written for other tools, run as they are."""
