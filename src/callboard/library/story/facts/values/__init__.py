"""Values: what a claim claims, brought to one form so that two claims can be compared."""
