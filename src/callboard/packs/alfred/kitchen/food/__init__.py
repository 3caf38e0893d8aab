"""Food: what the kitchen knows by a name, and what somebody must not eat, found by code."""
