"""The voice bundle: the files the chosen passage is made into, written and read back."""
