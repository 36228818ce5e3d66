"""Serial devices: opened, kept open from path to path, and what carries their bytes."""
