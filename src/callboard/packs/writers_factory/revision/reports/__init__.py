"""Reports on the whole manuscript: its continuity and its voice."""
