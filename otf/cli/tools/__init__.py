"""The commands of the tools: what a run and its replay do not need. They share the parts of the other commands."""
