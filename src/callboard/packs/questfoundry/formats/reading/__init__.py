"""Reading: files of other tools become a book; what is not understood stays as it is."""
