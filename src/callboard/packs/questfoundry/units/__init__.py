"""Units of work: the records over the runs of loops."""
