"""Five small choreographies that prove the vocabulary; start reading here."""
