"""The gallery of published defects: released servers in a bad version and in the fixed one, tested with one model each.

`python -m benchmarks.defects --json FILE` runs all of them, see `benchmarks.defects.__main__`.
"""
