"""stakes_mapper: what can be lost in each scene, and how it rises and falls through the story."""
