"""Timeline: when and where things happen, and what cannot have happened."""
