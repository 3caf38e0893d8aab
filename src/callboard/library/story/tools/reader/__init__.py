"""reader_experience_simulator: what a reader knows, waits for and feels, scene after scene."""
