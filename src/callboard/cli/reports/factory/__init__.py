"""What the command line shows of a book in Writers Factory."""
