"""Models that come with otf: one system per file or folder."""
