"""How a run is watched: in a terminal, as plain lines, or as JSON."""
