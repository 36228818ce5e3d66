"""Benchmarks: ratios in one run, medians of several, CPU time. Not in the wheel, and no tests."""
