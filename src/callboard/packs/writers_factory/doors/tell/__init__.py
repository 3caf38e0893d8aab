"""What the command line shows of a book."""
