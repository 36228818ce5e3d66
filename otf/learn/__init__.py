"""Learns models from running systems: queries, paths, answers, and the files made from them."""
