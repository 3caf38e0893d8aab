"""How good is good: Callboard measured side by side with its peers. Run `make bench`."""
