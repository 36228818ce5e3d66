"""Learning models from running systems: what is asked, driven and remembered, and the files that are made of it."""
