"""Child processes: started, read, guarded and stopped; and the hooks that are commands."""
