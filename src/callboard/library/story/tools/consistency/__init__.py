"""consistency_checker: scenes against each other, quote against quote."""
