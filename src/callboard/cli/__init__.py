"""The door for the command line: thin, no rules of its own."""
