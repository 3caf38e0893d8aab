"""Facts: what cards and prose claim about the people and things of a story, and who disagrees."""
