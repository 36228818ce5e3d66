"""Servers with seeded races, and their models."""
