"""The doors of Writers Factory: commands, routes, and what the command line shows."""
