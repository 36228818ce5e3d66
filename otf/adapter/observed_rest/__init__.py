"""Observes rest: the kernel knows whether every thread of a system sleeps, and when the next one wakes by itself."""
