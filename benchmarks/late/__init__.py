"""A device in C on a pseudo-terminal and a node on a CAN bus, with faults that show late; `benchmarks.late.table`."""
