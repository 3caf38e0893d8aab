"""Working with Writers Factory from the command line."""
