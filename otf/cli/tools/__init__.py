"""The commands of the tools, which neither a run nor its replay needs. They share code with the other commands."""
