"""What the command line does with Alfred."""
