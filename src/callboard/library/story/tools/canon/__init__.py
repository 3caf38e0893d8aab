"""canon_checker: a scene against the cards, quote against quote."""
