"""The field's own benchmarks, from snapshots that are given by path; nothing of theirs is in this repository."""
